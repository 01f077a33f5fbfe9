import { DIRECTION_WORDS } from '../core/op-sums.js';
import { OPS, type Op, type Order } from '../core/order.js';
import { counted, grouped } from './spelling.js';

/** How sums are put to people: what gives, takes and moves apart, with the net. A debit is nobody's payment. */

type Sums = Readonly<Record<Op, bigint | string>>;

const VERBS: Readonly<Record<Op, Readonly<Record<'would' | 'did', string>>>> = {
  credit: { would: 'give', did: 'gave' },
  debit: { would: 'take', did: 'took' },
  transfer: { would: 'move', did: 'moved' },
};

/** `give 5,769 · take 100 · move 20 · net +5,669`; what is moved between members changes no net. */
export function amountsWords(sums: Sums, when: 'would' | 'did' = 'would'): string {
  const ops = opsIn(sums);
  if (ops.length === 0) return '0';
  const net = signed(BigInt(sums.credit) - BigInt(sums.debit));
  return [...ops.map((op) => `${VERBS[op][when]} ${grouped(sums[op])}`), `net ${net}`].join(' · ');
}

/** What a rule does to so many members: `give 580 tokens to 8 members`. */
export function ruleWords(op: Op, tokens: string, members: string): string {
  const what = counted(BigInt(tokens), 'token');
  if (op === 'credit') return `give ${what} to ${members}`;
  return op === 'debit' ? `take ${what} from ${members}` : `move ${what} from or to ${members}`;
}

type Effect = {
  readonly op: Op | null;
  readonly tokens: number | string | null;
  readonly role: 'member' | 'recipient';
  readonly counterpart: string | null;
};

/** What an order does to one of its members, and in which direction: `take 5 from 7`, `move 5 from 7 to 8`. */
export function effectWords({ op, tokens, role, counterpart }: Effect, member: string): string {
  if (op === null) return 'no order';
  const [from, to] = role === 'member' ? [member, counterpart] : [counterpart, member];
  const sides = { credit: `to ${member}`, debit: `from ${member}`, transfer: `from ${from} to ${to}` };
  return `${VERBS[op].would} ${grouped(tokens ?? 0)} ${sides[op]}`;
}

/** An order as a sentence: `give 50 to 7`. */
export function orderWords({ op, tokens, member, recipient }: Order): string {
  return effectWords({ op, tokens, role: 'member', counterpart: recipient }, member);
}

/** What the one number is that a person types: the amounts together, whatever they do. */
export function totalWords(sums: Sums): string {
  const [op, ...more] = opsIn(sums);
  if (op === undefined || more.length === 0)
    return `all that is ${op === undefined ? 'sent' : DIRECTION_WORDS[op]}`;
  const words = opsIn(sums).map((each) => DIRECTION_WORDS[each]);
  return `the amounts ${words.slice(0, -1).join(', ')} and ${words.at(-1)} together`;
}

/**
 * The sum of a batch's orders in one state, of which the books know no kinds: where the batch has one, the word is
 * right; where it is mixed, the sum is called what it is.
 */
export function sumWords(sum: bigint | string, batch: Sums, isPaid = false): string {
  const [op, ...more] = opsIn(batch);
  if (more.length > 0) return absoluteWords(sum);
  const tokens = counted(sum, 'token');
  return isPaid && op !== undefined ? `${tokens} ${DIRECTION_WORDS[op]}` : tokens;
}

/** A sum of orders of which nobody asked what they do. */
export function absoluteWords(sum: bigint | string | number): string {
  return `${counted(sum, 'token')}, absolute`;
}

/** Whether amounts of several kinds are added up in its sums. */
export function isMixed(sums: Sums): boolean {
  return opsIn(sums).length > 1;
}

/** Whether it only gives: then, and only then, it is a payment. */
export function onlyGives(sums: Sums): boolean {
  return BigInt(sums.debit) === 0n && BigInt(sums.transfer) === 0n;
}

/** A change of a balance, with its sign. */
export function signed(change: bigint | string): string {
  const value = BigInt(change);
  if (value === 0n) return '0';
  return value > 0n ? `+${grouped(value)}` : `−${grouped(-value)}`;
}

function opsIn(sums: Sums): Op[] {
  return OPS.filter((op) => BigInt(sums[op]) > 0n);
}
