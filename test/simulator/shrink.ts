import type { Move, Plan } from './moves.js';
import { SMOOTHLY } from './process.js';

/** Finds the shortest history that still fails in the same way, by leaving moves out. */
export async function shrink(plan: Plan, stillFails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let best = plan;
  const tryWith = async (moves: readonly Move[]) => {
    const next = { ...best, moves };
    if (!(await stillFails(next))) return false;
    best = next;
    return true;
  };
  for (let size = Math.ceil(best.moves.length / 2); ; size = Math.ceil(size / 2)) {
    let left = false;
    for (let at = best.moves.length - size; at > -size; at -= size) {
      const start = Math.max(0, at);
      if (await tryWith([...best.moves.slice(0, start), ...best.moves.slice(at + size)])) left = true;
    }
    if (size <= 1 && !left) break;
  }
  for (const changes of SMALLER) {
    const next = { ...best, ...changes };
    if (await stillFails(next)) best = next;
  }
  for (let i = 0; i < best.moves.length; i++)
    for (const simplify of SIMPLER) {
      const move = best.moves[i];
      const simpler = move && simplify(move);
      if (simpler !== undefined) await tryWith(best.moves.with(i, simpler));
    }
  return best;
}

const SMALLER: readonly Partial<Plan>[] = [
  { rotates: false },
  { files: 1 },
  { processes: 2, machines: 2, early: 2 },
  { early: 1 },
  { orders: 3 },
  { orders: 8 },
];

/** Simpler variants of a move; undefined if it has nothing to simplify. */
const SIMPLER: readonly ((move: Move) => Move | undefined)[] = [
  (move) => ('how' in move ? { ...move, how: SMOOTHLY } : undefined),
  (move) => (move.do === 'send' ? { ...move, until: 'answered' } : undefined),
  (move) => (move.do === 'send' ? { ...move, fates: ['paid'] } : undefined),
  ...[0, 1, 2].map((kept) => (move: Move) => {
    const fate = move.do === 'send' && move.fates.length > 1 ? move.fates[kept] : undefined;
    return move.do === 'send' && fate !== undefined ? { ...move, fates: [fate] } : undefined;
  }),
  (move) => ('count' in move ? { ...move, count: 1 } : undefined),
];

export function tell(move: Move): string {
  return JSON.stringify({
    ...move,
    ...('how' in move && JSON.stringify(move.how) === JSON.stringify(SMOOTHLY) ? { how: undefined } : {}),
  });
}
