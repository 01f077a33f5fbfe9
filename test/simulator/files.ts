import { batchId, memberId } from '../../src/core/ids.js';
import type { Order } from '../../src/core/order.js';
import { tokens } from '../../src/core/points.js';
import { Dice } from './dice.js';
import type { Plan } from './moves.js';
import type { File, Row } from './operator.js';

/** Equal amounts both ways on few members: a balance that looks right for the wrong reason has to show. */
export function firstFile({ seed, orders, members }: Plan, number: number): File {
  const dice = new Dice(seed + number);
  const member = () => 1 + dice.below(members);
  const rows = Array.from({ length: orders }, (_, i): Row => {
    const from = member();
    const order: Order = dice.chance(0.15)
      ? {
          op: 'transfer',
          member: memberId(String(from)),
          recipient: memberId(String(1 + (from % members))),
          tokens: tokens(5),
        }
      : {
          op: dice.chance(0.5) ? 'credit' : 'debit',
          member: memberId(String(from)),
          recipient: null,
          tokens: tokens(5),
        };
    const intention = `${number}:${i + 1}`;
    return { order, reference: i % 4 === 0 ? `reference ${intention}` : null, replaces: null, intention };
  });
  return { id: batchId(`file-${number}`), rows };
}
