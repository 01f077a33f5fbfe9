import { expect, test } from 'vitest';
import { steerRule } from '../../src/operations/rules/steer-rule.js';
import { changeScheduledRule, scheduledRules } from '../../src/rules/approvals.js';
import { startDesk } from '../support/program/desk.js';

const REALMS = ['alpha', 'beta']
  .map(
    (name) =>
      `  ${name}: { baseUrl: "http://127.0.0.1:9", realmId: ${name}, keyEnv: ${name.toUpperCase()}_KEY }`,
  )
  .join('\n');

test('a rule that was moved to another realm is paused in both', async () => {
  const desk = await startDesk({ config: `realms:\n${REALMS}\n` });
  try {
    const { app } = desk;
    const at = Date.now() - 1_000;
    for (const profile of app.config.profiles)
      await changeScheduledRule(app.ledger(profile), 'moved', () => ({
        rule: 'moved',
        file: '/jobs/moved.yaml',
        hash: 'a',
        cron: '0 9 * * *',
        timezone: 'UTC',
        missed: 'once',
        period: 'day',
        waitsSince: 0,
        approved: { who: 'ada', at, why: null, asked: null, byToken: true, audience: null },
        asked: null,
        takenBack: null,
        paused: null,
        skip: null,
      }));
    const words = await steerRule(app, 'moved', 'pause', 'stop it');
    expect(words).toMatch(/^alpha: moved: paused by .*\nbeta: moved: paused by .*/);
    for (const profile of app.config.profiles)
      expect((await scheduledRules(app.ledger(profile)))[0]?.paused).toMatchObject({ why: 'stop it' });
  } finally {
    await desk.close();
  }
});
