import { expect, test } from 'vitest';
import { textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

test('by the commands, imports for a later week free nothing of today', async () => {
  const w = await Program.start({
    members: Array.from({ length: 9 }, (_, at) => ({ member: String(at + 1), tokens: 0 })),
    profile: { approval: { overTokens: 100 } },
  });
  try {
    const token = textField(
      await w.run('desk', 'token', 'add', 'ada', '--role', 'operator', '--json'),
      'token',
    );
    const as = (...args: string[]) =>
      almoner(args, { env: { ...w.env, ALMONER_TOKEN: token }, cwd: w.folder });
    const told: unknown[] = [];
    for (let i = 1; i <= 3; i++) {
      await w.file(`gift-${i}.csv`, `member,tokens\n${i},100\n`);
      const ran = await as('run', `gift-${i}.csv`, '--yes', '--json');
      await w.file(`later-${i}.csv`, `member,tokens\n${i},1\n`);
      const at = new Date(Date.now() + (8 + 2 * i) * 86_400_000).toISOString();
      const later = await as('import', `later-${i}.csv`, '--at', at, '--yes', '--json');
      told.push([ran.status, later.status, later.stderr.slice(0, 200)]);
    }
    const paid = (await w.applied()).reduce((sum, { tokens }) => sum + tokens, 0);
    expect([paid <= 100, paid, told]).toEqual([true, expect.anything(), expect.anything()]);
  } finally {
    await w.end();
  }
}, 120_000);
