import type { Bounds } from './decide.js';
import { memberAt, unpackSlice } from './packed-audience.js';
import { type ReadRequest, readCandidates } from './read-candidates.js';
import type { Outcome } from './rule-jobs.js';
import { type RuleThread, withRuleThread } from './rule-thread.js';
import { RUN_BLOCK_MEMBERS } from './run-record.js';

export type DecideRequest = Omit<ReadRequest, 'judging'> & {
  /** The time that the run stands for. */
  readonly at: number;
  /** In place of the rule's own, where one member is tried. */
  readonly maxMissing?: number;
  readonly bounds: () => Promise<Bounds>;
  readonly thread?: RuleThread;
  /** Keeps a block of decisions with their facts. */
  readonly keep: (block: number, bytes: Uint8Array) => Promise<void>;
};

/**
 * Reads the facts that are needed, and decides over a whole audience in a thread of its own: what is heavy
 * happens there, and this process goes on answering.
 */
export async function decideAudience(
  request: DecideRequest,
): Promise<{ readonly decided: Outcome; readonly requests: number; readonly blocks: number }> {
  const { rule, audience, at, maxMissing = rule.maxMissing } = request;
  const { members, slices } = audience;
  const judging = <T>(work: (thread: RuleThread) => Promise<T>) =>
    withRuleThread(
      request.stop,
      async (thread) => {
        await thread.ask('begin', { rule: { ...rule, maxMissing }, columns: audience.columns, at });
        return work(thread);
      },
      request.thread,
    );
  const { readOf, requests } = await readCandidates({
    ...request,
    judging: (work) =>
      judging((thread) =>
        work((some) => {
          const judged = { rule, members, memberAt: (index: number) => some[index]?.row.member ?? '' };
          return thread.judge(judged, 'meeting', some);
        }),
      ),
  });
  const blocks = Math.ceil(members / RUN_BLOCK_MEMBERS);
  const decided = await judging(async (thread) => {
    for (const slice of slices) await thread.ask('add', slice, unpackSlice(slice).map(readOf));
    const judged = { rule, members, memberAt: (index: number) => memberAt(audience, index) };
    const outcome = await thread.judge(judged, 'decide', await request.bounds());
    for (let block = 0; block < blocks; block++) await request.keep(block, await thread.ask('block', block));
    return outcome;
  });
  return { decided, requests, blocks };
}
