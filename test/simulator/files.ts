import { type MemberId, memberId } from '../../src/core/ids.js';
import type { Order } from '../../src/core/order.js';
import { tokens } from '../../src/core/points.js';
import { Dice } from './dice.js';
import type { Plan } from './moves.js';
import { type Given, type Row, rowsGiven } from './sheet.js';

/**
 * A file with equal amounts both ways on few members, so that a balance that looks right for the wrong reason shows.
 * Such files resemble each other, and each is meant on purpose. With `distinct`, no two rows are equal.
 */
export function firstFile({ seed, orders, members, distinct }: Plan, number: number): Given {
  const dice = new Dice(seed + number);
  const rows = Array.from({ length: orders }, (_, i): Row => {
    const amount = distinct ? 1_000 * (number + 1) + i : 5;
    const intention = `${number}:${i + 1}`;
    const order = anyOrder(dice, members, amount);
    return {
      order,
      reference: i % 4 === 0 ? `reference ${intention}` : null,
      replaces: null,
      intention,
      undoes: null,
    };
  });
  return rowsGiven(rows, { again: distinct ? null : `file ${number}` });
}

/** A row that no file has had before. */
export function freshRow(number: number, members: number): Row {
  const order = anyOrder(new Dice(number), members, 100_000 + number);
  return { order, reference: null, replaces: null, intention: `fresh ${number}`, undoes: null };
}

const HANDLES = 12;

/** Up to a dozen rows that name members by handle. A corrected table assigns half of the handles to other members. */
export function rowsByTable(
  members: number,
  {
    first,
    count,
    corrected,
  }: { readonly first: number; readonly count: number; readonly corrected: boolean },
): Given {
  const table = new Map<string, MemberId>();
  for (let i = 0; i < HANDLES; i++)
    table.set(handleOf(i), memberId(String(1 + ((i + (corrected && i % 2 === 0 ? 1 : 0)) % members))));
  const rows = Array.from({ length: Math.min(count, HANDLES) }, (_, n): Row => {
    const i = (first + n) % HANDLES;
    const member = table.get(handleOf(i)) ?? memberId('1');
    const order: Order = { op: 'credit', member, recipient: null, tokens: tokens(50_000 + i) };
    return {
      order,
      handle: handleOf(i),
      reference: null,
      replaces: null,
      intention: handleOf(i),
      undoes: null,
    };
  });
  return rowsGiven(rows, { table });
}

function handleOf(i: number): string {
  return `handle_${i}`;
}

function anyOrder(dice: Dice, members: number, amount: number): Order {
  const from = 1 + dice.below(members);
  const [member, recipient] = [memberId(String(from)), memberId(String(1 + (from % members)))];
  if (dice.chance(0.15)) return { op: 'transfer', member, recipient, tokens: tokens(amount) };
  return { op: dice.chance(0.5) ? 'credit' : 'debit', member, recipient: null, tokens: tokens(amount) };
}
