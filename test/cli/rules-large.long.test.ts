import { afterEach, expect, test } from 'vitest';
import { almoner } from '../support/program/almoner.js';
import { Program, REALM_ID } from '../support/program/program.js';

let world: Program;
afterEach(() => world.end());

test('2,500 members are planned with one request each, showing the progress', async () => {
  const members = Array.from({ length: 2_500 }, (_, index) => ({
    member: String(119_032_211_700 + index * 7),
    tokens: index,
    web3: { held: index % 50 },
  }));
  world = await Program.start({ store: 'own', members });
  await world.file('jobs/audience.csv', `member\n${members.map(({ member }) => member).join('\n')}\n`);
  await world.file(
    'jobs/large.yaml',
    [
      'name: large',
      `realm: ${REALM_ID}`,
      'period: month',
      'audience: { file: audience.csv }',
      'condition: web3.held >= 10',
      'award: { tokens: web3.held, rounding: floor }',
      'reason: Large',
    ].join('\n'),
  );
  const ran = await almoner(['rules', 'plan', 'large', '--json'], { cwd: world.folder, env: world.env });
  expect(ran.status).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    members: 2_500,
    awards: 2_000,
    factRequests: 2_500,
    stops: [],
  });
  expect(world.requests).toHaveLength(2_500);
  expect(new Set(world.requests).size).toBe(2_500);
  expect(ran.stderr).toMatch(/at most 2,500 requests/);
  expect(ran.stderr.match(/reading facts: [\d,]+ of 2,500 requests/g)?.length).toBeGreaterThan(1);
  expect(ran.stderr).toMatch(/reading facts: 2,500 of 2,500 requests/);
}, 180_000);
