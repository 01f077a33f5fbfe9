import type { Bounds } from './decide.js';
import type { Decided, Decision, LeftOut } from './decision.js';
import { inTurns } from './in-turns.js';
import { type ReadRequest, readCandidates } from './read-candidates.js';
import { type RuleThread, withRuleThread } from './rule-thread.js';
import { RUN_BLOCK_MEMBERS } from './run-record.js';

export type DecideRequest = Omit<ReadRequest, 'meeting'> & {
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
export function decideAudience(request: DecideRequest): Promise<{
  readonly decided: Decided;
  readonly leftOut: Partial<Record<LeftOut, number>>;
  readonly requests: number;
  readonly blocks: number;
}> {
  const { rule, audience, at, maxMissing = rule.maxMissing } = request;
  const members = audience.rows.length;
  const work = async (thread: RuleThread) => {
    await thread.ask('begin', { rule: { ...rule, maxMissing }, columns: audience.columns, at });
    const { candidateOf, requests } = await readCandidates({
      ...request,
      meeting: (some) =>
        thread.judge({ rule, members, memberAt: (index) => some[index]?.row.member ?? '' }, 'meeting', some),
    });
    for await (const rows of inTurns(audience.rows)) await thread.ask('add', rows.map(candidateOf));
    const memberAt = (index: number) => audience.rows[index]?.member ?? '';
    const { leftOut, ...decided } = await thread.judge(
      { rule, members, memberAt },
      'decide',
      await request.bounds(),
    );
    const decisions: Decision[] = [];
    const blocks = Math.ceil(members / RUN_BLOCK_MEMBERS);
    for (let block = 0; block < blocks; block++) {
      const made = await thread.ask('block', block);
      decisions.push(...made.decisions);
      await request.keep(block, made.bytes);
    }
    return { decided: { ...decided, decisions }, leftOut, requests, blocks };
  };
  return withRuleThread(request.stop, work, request.thread);
}
