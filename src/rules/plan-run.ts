import type { RealmProfile } from '../core/profile.js';
import { alreadyAwarded, awardedInPeriod } from './awarded.js';
import { decideAudience } from './decide-audience.js';
import type { FactReader } from './gather-facts.js';
import { type OpenRunRequest, openRun } from './open-run.js';
import { rowsOf } from './packed-audience.js';
import type { RuleThread } from './rule-thread.js';
import type { RunMeta } from './run-record.js';
import { changeRun, forgetOldRuns, openFacts, putEntries } from './run-store.js';

export type PlanRunRequest = OpenRunRequest & {
  readonly profile: Pick<RealmProfile, 'caps' | 'wallets' | 'rate'>;
  readonly reads: FactReader;
  readonly stop: AbortSignal;
  /** Requests made for this plan, and how many it will be at most. */
  readonly onProgress: (made: number, most: number) => void;
  /** Handed in where one thread serves many runs. */
  readonly thread?: RuleThread;
};

export type PlannedRun = { readonly meta: RunMeta; readonly resumed: boolean };

/**
 * From a rule to a plan: asks the ledger who was awarded already, reads the facts that are needed and no
 * others, decides, and freezes facts and decisions together. Interrupted at any moment, the next call goes on
 * with what was read. Nothing is paid here and nothing is promised: only a batch does that.
 */
export async function planRun(request: PlanRunRequest): Promise<PlannedRun> {
  const { ledger, rule, audience } = request;
  const { meta, resumed } = await openRun(request);
  const facts = await openFacts(ledger, meta.id);
  const already = await alreadyAwarded(ledger, rule.name, meta.period, rowsOf(audience));
  const { decided, requests, blocks } = await decideAudience({
    ...request,
    at: meta.at,
    facts,
    already,
    bounds: async () => ({
      awardedInPeriod: await awardedInPeriod(ledger, rule.name, meta.period),
      maxTokensPerOrder: request.profile.caps.maxTokensPerOrder,
    }),
    keep: (block, bytes) => putEntries(ledger, meta.id, block, bytes),
  });
  const planned: RunMeta = {
    ...meta,
    state: decided.stops.length > 0 ? 'stopped' : 'planned',
    plannedAt: request.now,
    awards: decided.awards,
    tokens: String(decided.tokens),
    leftOut: decided.leftOut,
    stops: [...decided.stops],
    requests,
    blocks,
  };
  // A plan never takes the place of a run that has a batch.
  await changeRun(ledger, meta.id, (known) => (known === null || known.batch === null ? planned : null));
  await facts.drop();
  await forgetOldRuns(ledger, rule.name, rule.keepRuns);
  return { meta: planned, resumed };
}
