import { afterEach, describe, expect, test } from 'vitest';
import { isAlmonerError } from '../../src/core/errors/error.js';
import type { MemberId } from '../../src/core/ids.js';
import { memberAt, packAudience, packSlice } from '../../src/rules/packed-audience.js';
import { decideAudience } from '../../src/rules/plan-run.js';
import type { LoadedRule } from '../../src/rules/rule.js';
import {
  JUDGING_LIMITS,
  type JudgingLimits,
  RuleThread,
  withRuleThread,
} from '../../src/rules/rule-thread.js';
import { decodeEntries } from '../../src/rules/run-record.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { until } from '../support/until.js';
import { AT, candidatesOf } from './candidates.js';
import { goodRule, ruleText } from './rule-file.js';

const BOUNDS = { awardedInPeriod: 0n, maxTokensPerOrder: null };
const ENDLESS = `"${'a'.repeat(60)}!"`;
const threads: RuleThread[] = [];
afterEach(() => Promise.all(threads.splice(0).map((thread) => thread.close())));

async function begun(loaded: LoadedRule, stop = new AbortController().signal, limits?: JudgingLimits) {
  const { rule, audience } = loaded;
  const thread = new RuleThread(stop, limits);
  threads.push(thread);
  await thread.ask('begin', { rule, columns: audience.columns, at: AT });
  const read = candidatesOf(loaded).map(({ row, ...facts }) => facts);
  await thread.ask('add', packSlice(audience.rows, 0), read);
  const judged = {
    rule,
    members: audience.rows.length,
    memberAt: (index: number) => memberAt(packAudience(audience), index),
  };
  return { thread, decide: () => thread.judge(judged, 'decide', BOUNDS) };
}

/** Busy for so long on member 102, by a pattern that tries everything. */
const endless = () =>
  goodRule(ruleText({ x: `condition: 'row.score == 7 ? ${ENDLESS}.matches("^(a+)+$") : true'` }));

describe('a rule in its thread', () => {
  test('decides like anywhere else', async () => {
    const { thread, decide } = await begun(await goodRule(ruleText({ x: 'condition: row.active' })));
    expect(await decide()).toMatchObject({ awards: 2, tokens: 100n, stops: [], leftOut: { condition: 1 } });
    const entries = decodeEntries(await thread.ask('block', 0));
    expect(entries.map(({ decision }) => decision.tokens)).toEqual([50, 0, 50]);
  });

  test('that takes too long on one member is ended, with rule, member and limit', async () => {
    expect(JUDGING_LIMITS.memberMs).toBe(1_000);
    const { thread, decide } = await begun(await endless(), undefined, { ...JUDGING_LIMITS, memberMs: 800 });
    const error = await decide().catch((failure: unknown) => failure);
    if (!isAlmonerError(error, 'ALM_RULE_TOO_SLOW')) throw error;
    expect(error.message).toMatch(/rule thanks \(.*rule\.yaml\) .* 800 ms, .* one member, .* member 102\./);
    await expect(thread.ask('slice', 0)).rejects.toBe(error);
  });

  test('that takes too long on all of them together is ended, too', async () => {
    const slow = { ...JUDGING_LIMITS, memberMs: 60_000, totalMs: 1_497, totalMsPerMember: 1 };
    const { decide } = await begun(await endless(), undefined, slow);
    await expect(decide()).rejects.toThrow(
      /took more than 1500 ms, .* all 3 members together, .* member 102\./,
    );
  });

  test('leaves the process free meanwhile, and a stop ends it at once', async () => {
    const stop = new AbortController();
    const patient = { ...JUDGING_LIMITS, memberMs: 60_000, totalMs: 60_000 };
    const { decide } = await begun(await endless(), stop.signal, patient);
    const decided = decide().catch((failure: unknown) => failure);
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    expect(isAlmonerError(await decided, 'ALM_RULE_INTERRUPTED')).toBe(true);
  });

  test('that has been stopped before it began does nothing', async () => {
    await expect(begun(await endless(), AbortSignal.abort())).rejects.toThrow(/interrupted/);
  });

  test('waits in line where two are at work', async () => {
    const seen = { now: 0, most: 0 };
    const use = (stop?: AbortSignal) =>
      withRuleThread(stop, async (thread) => {
        seen.most = Math.max(seen.most, ++seen.now);
        await thread.ask('look', 'nowhere.yaml', 'nowhere.yaml', false).finally(() => --seen.now);
      });
    const stop = new AbortController();
    const [stopped, ...others] = [use(stop.signal), use(), use(), use(), use(), use()];
    stop.abort();
    await expect(stopped).rejects.toThrow(/interrupted/);
    await Promise.all(others);
    expect(seen.most).toBe(2);
  });

  test('serves the next use, which finds nothing of the one before it', async () => {
    const loaded = await goodRule(ruleText());
    const { rule, audience } = loaded;
    let first: RuleThread | undefined;
    await withRuleThread(undefined, async (thread) => {
      first = thread;
      await thread.ask('begin', { rule, columns: audience.columns, at: AT });
      const read = candidatesOf(loaded).map(({ row, ...facts }) => facts);
      await thread.ask('add', packSlice(audience.rows, 0), read);
      await thread.ask('decide', BOUNDS);
      expect(decodeEntries(await thread.ask('block', 0))).toHaveLength(3);
    });
    await withRuleThread(undefined, async (thread) => {
      expect(thread).toBe(first);
      expect(decodeEntries(await thread.ask('block', 0))).toEqual([]);
      await expect(thread.ask('decide', BOUNDS)).rejects.toThrow('no rule was handed to the thread');
    });
  });

  test('that a stop has ended serves no other use', async () => {
    const stop = new AbortController();
    const stopped = withRuleThread(stop.signal, async (thread) => {
      stop.abort();
      await thread.ask('look', 'nowhere.yaml', 'nowhere.yaml', false);
    });
    await expect(stopped).rejects.toThrow(/interrupted/);
    await withRuleThread(undefined, (thread) => thread.ask('forget'));
  });

  test('is not held while facts are read, which may take hours', async () => {
    const { rule, audience } = await goodRule(
      ruleText({
        x: 'condition: member.level > 1',
        award: 'award:\n  tokens: web3.score\n  rounding: floor',
      }),
    );
    const read = new Set<string>();
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const said = async (id: MemberId, raw: unknown) => {
      read.add(id);
      await answered;
      return { id, balance: null, raw };
    };
    const plan = () => {
      const known = new Map<string, string>();
      return decideAudience({
        rule,
        audience: packAudience(audience),
        profile: testProfile(),
        reads: {
          member: (id) => said(id, { level: 2 }),
          web3: (id) => said(id, { score: 7 }),
          wallets: async () => new Map(),
        },
        facts: { known, keep: async (field, value) => void known.set(field, value), drop: async () => {} },
        already: new Map(),
        stop: new AbortController().signal,
        onProgress: () => {},
        at: AT,
        bounds: async () => BOUNDS,
        keep: async () => {},
      });
    };
    const plans = [plan(), plan(), plan()];
    await until('the facts of all to be asked for', () => read.size === audience.rows.length);
    await withRuleThread(undefined, (thread) => thread.ask('look', 'nowhere.yaml', 'nowhere.yaml', false));
    answer();
    for (const { decided } of await Promise.all(plans))
      expect(decided).toMatchObject({ awards: 3, tokens: 21n });
  });
});
