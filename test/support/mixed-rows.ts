import type { MemberSeed } from '../../src/realm/server/members.js';

/** Credits, debits and transfers over few members, so that many rows share a member. */
export function mixedRows(rows: number, members: number): { csv: string; seeds: MemberSeed[] } {
  const id = (n: number) => String(100_000_000_000_000_000n + BigInt(n % members));
  const lines = Array.from({ length: rows }, (_, i) => {
    const tokens = 1 + ((i * 7) % 40);
    switch (i % 3) {
      case 0:
        return `${id(i * 13)},credit,,${tokens},ref-${i}`;
      case 1:
        return `${id(i * 17)},debit,,${tokens},ref-${i}`;
      default:
        return `${id(i * 19)},transfer,${id(i * 19 + 1)},${tokens},ref-${i}`;
    }
  });
  return {
    csv: `member,op,recipient,tokens,reference\n${lines.join('\n')}\n`,
    seeds: Array.from({ length: members }, (_, n) => ({ member: id(n), tokens: 1_000_000 })),
  };
}
