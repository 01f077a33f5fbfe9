import { z } from 'zod';
import { type BatchId, batchId } from '../../core/ids.js';
import { type OverLimit, parseOverLimit } from '../accounts.js';
import { FILE_LABEL } from '../amount.js';
import { FORMAT, FORMAT_FIELD, otherFormat } from '../format.js';
import { PLAN_BLOCK_ROWS, REALMS_KEY } from '../keys.js';
import type { MissedToNote } from '../notes/scheduled-times.js';
import type { Judged } from '../read/earlier.js';
import { BY_NOBODY, confirmedHash, encodePrepared, type Prepared } from '../read/gate.js';
import { askScript, batchFacts, type RealmLedger } from '../realm-ledger.js';
import { CODE_OF_STATE } from '../record.js';
import { type AuditEntry, decodeManifest, encodeAudit, encodeManifest, type Manifest } from '../views.js';
import { type BlockClaims, NO_CLAIMS, unpackRefs } from './put-block.js';

/** A batch on its way into the ledger: opened, filled block by block (see put-block.ts), then sealed or dropped. */

export type Opened = {
  readonly status: 'new' | 'taken-over' | 'sealed' | 'id-taken' | 'gone';
  readonly no: string;
  readonly id: BatchId;
};

export async function openBatch(
  ledger: RealmLedger,
  wanted: {
    content: string;
    id: BatchId;
    importer: string;
    createdAt: number;
    /** Only an import that is there is taken over, to be dropped: nothing is begun. */
    takesBack?: boolean;
  },
): Promise<Opened> {
  const at = await ledger.scripts.here.thisProcess();
  const [status = '', no = '', id = ''] = await askScript(ledger, 'open-batch', [
    wanted.content,
    wanted.id,
    wanted.importer,
    wanted.createdAt,
    at === null ? '' : JSON.stringify(at),
    wanted.takesBack === true ? '1' : '',
  ]);
  if (status === 'older' || status === 'newer') throw otherFormat(status);
  return { status: openReply.parse(status), no, id: batchId(id) };
}

const openReply = z.enum(['new', 'taken-over', 'sealed', 'id-taken', 'gone']);

/** What a run of a rule keeps in the same step as its batch is sealed. */
export type SealedRun = {
  readonly account: string;
  /** The most that all orders of the account may hold; null for no limit. */
  readonly limit: number | null;
  /** Null for a run of a schedule, whose number is its time. */
  readonly number: number | null;
  readonly id: string;
  /** The run as it is from then on, and what became of the schedule's time, as JSON. */
  readonly record: string;
  /** `only`: nothing is sealed where somebody else has dealt with that time. */
  readonly schedule: {
    readonly rule: string;
    readonly hash: string;
    readonly audience: string;
    /** Who asked for the rule's approval, or gave it alone: the first person of each batch that it makes. */
    readonly preparer: string | null;
    readonly last: string;
    /** Times that go onto the list of missed ones in the same step. */
    readonly missed: MissedToNote | null;
    readonly only: boolean;
  } | null;
};

export type Sealed = z.infer<typeof sealReply> | OverLimit;

type SealedWith = {
  readonly sketch: Buffer;
  /** The realm's numbers when the plan was judged again; null where nothing was asked. */
  readonly judged: Judged | null;
  readonly run: SealedRun | null;
  /** How many orders of the batch were recovered. */
  readonly recovered: number;
  readonly prepared: Prepared;
};

/** How many orders of each state the batch begins with, and their tokens. */
export type SealedCounts = Readonly<
  Record<'planned' | 'duplicate' | 'invalid', { readonly count: number; readonly tokens: bigint }>
>;

function countersOf(counts: Partial<SealedCounts>): Record<string, string> {
  const states = ['planned', 'duplicate', 'invalid'] as const;
  return Object.fromEntries(
    states.flatMap((state) => {
      const { count, tokens } = counts[state] ?? { count: 0, tokens: 0n };
      const code = CODE_OF_STATE[state];
      return [
        [`c:${code}`, String(count)],
        [`t:${code}`, String(tokens)],
      ];
    }),
  );
}

export async function sealBatch(
  ledger: RealmLedger,
  at: { no: string; importer: string; owner: string },
  {
    manifest,
    counts,
    audit,
  }: {
    readonly manifest: Manifest;
    readonly counts: Partial<SealedCounts>;
    readonly audit: AuditEntry;
  },
  {
    sketch = NO_SKETCH,
    judged = null,
    run = null,
    recovered = 0,
    prepared = BY_NOBODY,
  }: Partial<SealedWith> = {},
): Promise<Sealed> {
  const json = encodeManifest(manifest);
  const confirmed = confirmedHash(ledger, decodeManifest(json), prepared);
  const [status, ...over] = await askScript(ledger, 'seal-batch', [
    at.no,
    at.importer,
    json,
    JSON.stringify(countersOf(counts)),
    at.owner,
    manifest.rows,
    encodeAudit(audit),
    sketch,
    manifest.inOrder ? '1' : '0',
    judged === null ? '' : `${judged.seals} ${judged.retries}`,
    run === null ? '' : JSON.stringify(run),
    recovered,
    judged?.store ?? '',
    encodePrepared(prepared, confirmed),
    manifest.currency ?? '',
    run === null ? FILE_LABEL : (run.account.split(':')[0] ?? ''),
  ]);
  if (status === 'over') return parseOverLimit(over);
  return sealReply.parse(status);
}

const sealReply = z.enum([
  'sealed',
  'already',
  'not-importer',
  'incomplete',
  'moved',
  'sending',
  'disarmed',
  'noted',
  'nameless',
]);
const NO_SKETCH = Buffer.alloc(0);

/**
 * Takes back a batch that was never sealed, block by block: also the blocks that an importer stored which
 * this one took over from, of the same orders. Left behind, their marks would keep the orders they replace
 * from ever being retried.
 */
export async function dropBatch(
  ledger: RealmLedger,
  at: { no: string; importer: string },
  blocks: number,
  claimsOf: (block: number) => Promise<BlockClaims>,
): Promise<void> {
  const [stored] = await batchFacts({ ledger, no: at.no }, 'blocks');
  for (let block = Math.max(blocks, Number(stored)) - 1; block >= -1; block--) {
    const { refs, replaces } = block < 0 ? NO_CLAIMS : await claimsOf(block);
    const content = { refs: unpackRefs(refs, block * PLAN_BLOCK_ROWS + 1), replaces };
    const reply = await ledger.scripts.script('drop-batch', ledger.keyPrefix, [
      at.no,
      at.importer,
      Math.max(block, 0),
      JSON.stringify(content),
      block < 0 ? '1' : '',
    ]);
    if (reply !== 'ok') return;
  }
}

/** Notes the realm in the store; done before its first batch is opened. */
export async function registerRealm({ scripts, id, realm }: RealmLedger): Promise<void> {
  await scripts.ask('register realm', (redis) =>
    redis.hset(REALMS_KEY, { [FORMAT_FIELD]: FORMAT, [id]: JSON.stringify(realm) }),
  );
}
