import { DIRECTION_WORDS } from '../core/op-sums.js';
import { OPS, type Op, type Order } from '../core/order.js';
import { counted, grouped } from './spelling.js';

/**
 * Wording of sums. Given, taken and moved amounts stay apart, with the net beside them, because a debit pays no
 * member.
 */

type Sums = Readonly<Record<Op, bigint | string>>;

const VERBS: Readonly<Record<Op, Readonly<Record<'would' | 'did', string>>>> = {
  credit: { would: 'give', did: 'gave' },
  debit: { would: 'take', did: 'took' },
  transfer: { would: 'move', did: 'moved' },
};

/** `give 5,769 · take 100 · move 20 · net +5,669`. Points moved between members do not change the net. */
export function amountsWords(sums: Sums, when: 'would' | 'did' = 'would'): string {
  const ops = opsIn(sums);
  if (ops.length === 0) return '0';
  const net = signed(BigInt(sums.credit) - BigInt(sums.debit));
  return [...ops.map((op) => `${VERBS[op][when]} ${grouped(sums[op])}`), `net ${net}`].join(' · ');
}

/** The effect of a rule: `give 580 tokens to 8 members`. */
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

/** The effect of an order on one of its members: `take 5 from 7`, `move 5 from 7 to 8`. */
export function effectWords({ op, tokens, role, counterpart }: Effect, member: string): string {
  if (op === null) return 'no order';
  const [from, to] = role === 'member' ? [member, counterpart] : [counterpart, member];
  const sides = { credit: `to ${member}`, debit: `from ${member}`, transfer: `from ${from} to ${to}` };
  return `${VERBS[op].would} ${grouped(tokens ?? 0)} ${sides[op]}`;
}

/** An order in words: `give 50 to 7`. */
export function orderWords({ op, tokens, member, recipient }: Order): string {
  return effectWords({ op, tokens, role: 'member', counterpart: recipient }, member);
}

/** Describes the total that a person types: all amounts together, whatever their direction. */
export function totalWords(sums: Sums): string {
  const [op, ...more] = opsIn(sums);
  if (op === undefined || more.length === 0)
    return `all that is ${op === undefined ? 'sent' : DIRECTION_WORDS[op]}`;
  const words = opsIn(sums).map((each) => DIRECTION_WORDS[each]);
  return `the amounts ${words.slice(0, -1).join(', ')} and ${words.at(-1)} together`;
}

/**
 * The sum of a batch's orders in one state. The ledger does not keep these sums per op. If the batch has only one op,
 * its word is used; a mixed sum is called absolute.
 */
export function sumWords(sum: bigint | string, batch: Sums, isPaid = false): string {
  const [op, ...more] = opsIn(batch);
  if (more.length > 0) return absoluteWords(sum);
  const tokens = counted(sum, 'token');
  return isPaid && op !== undefined ? `${tokens} ${DIRECTION_WORDS[op]}` : tokens;
}

/** A sum over orders with unknown or mixed ops. */
export function absoluteWords(sum: bigint | string | number): string {
  return `${counted(sum, 'token')}, absolute`;
}

/** True if the sums mix several ops. */
export function isMixed(sums: Sums): boolean {
  return opsIn(sums).length > 1;
}

/** True if the sums only give points. Only then is the batch called a payment. */
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
