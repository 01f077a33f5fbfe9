import type { MemberSeed } from '../../../src/realm/server/members.js';

/** Orders with distinct content, so that the realm's records identify each one without a key. */
export function uniqueRows(rows: number, first = 0): { csv: string; seeds: MemberSeed[] } {
  const id = (n: number) => String(200_000_000_000_000_000n + BigInt(n));
  const lines: string[] = [];
  const seeds: MemberSeed[] = [];
  for (let i = first; i < first + rows; i++) {
    seeds.push({ member: id(i), tokens: 10_000 });
    const tokens = 1 + (i % 97);
    const kind = i === first ? 0 : i % 3;
    if (kind === 0) lines.push(`${id(i)},credit,,${tokens},u-${i}`);
    else if (kind === 1) lines.push(`${id(i)},debit,,${tokens},u-${i}`);
    else lines.push(`${id(i)},transfer,${id(i - 1)},${tokens},u-${i}`);
  }
  return { csv: `member,op,recipient,tokens,reference\n${lines.join('\n')}\n`, seeds };
}
