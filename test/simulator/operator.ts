import { isAlmonerError } from '../../src/core/errors/error.js';
import { batchKeys } from '../../src/ledger/keys.js';
import { conclude } from '../../src/ledger/moves/conclude.js';
import { registerRealm } from '../../src/ledger/moves/import-batch.js';
import { cancelBatch, pauseBatch, releaseRealm, resumeBatch } from '../../src/ledger/moves/steer.js';
import type { PlannedOrder } from '../../src/ledger/plan-block.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { batchFacts, openLedger, type RealmLedger } from '../../src/ledger/realm-ledger.js';
import { decodeRecord, type OrderRecord } from '../../src/ledger/record.js';
import { newNonce, ScriptClient } from '../../src/ledger/script-client.js';
import { listFolders } from '../../src/ledger/sessions/folders.js';
import type { Reason } from '../../src/ledger/views.js';
import { writeUndo } from '../../src/operations/batches/undo.js';
import { type Decision, recoverRealms } from '../../src/operations/services/recover.js';
import { PaidSince } from '../../src/planning/paid-before/looks-paid.js';
import { App } from '../../src/runtime/app.js';
import { approveBatch } from '../support/ledger/approve-batch.js';
import { namedOrders } from '../support/ledger/named-orders.js';
import { resume } from '../support/ledger/resume.js';
import { Intake } from './intake.js';
import { type Machine, on } from './machine.js';
import type { File } from './sheet.js';
import { Link } from './store.js';
import type { World } from './wiring.js';

/** What a person does and sees: files, commands, and what the program reports about waiting orders. */

export type BatchSight = {
  readonly no: string;
  readonly state: string;
  readonly records: readonly OrderRecord[];
  /** Rows of the file that a recovered batch does not hold. */
  readonly absent: ReadonlySet<number>;
};

const WHY: Reason = { code: 'ALM_BATCH_REFUSALS', message: 'somebody says so', next: 'nothing' };

export class Operator {
  readonly ledger: RealmLedger;
  readonly intake: Intake;
  private readonly link: Link;
  private moments = 0;

  constructor(private readonly world: World) {
    this.link = new Link(world.store, () => {});
    this.ledger = openLedger(
      new ScriptClient(this.link.redis, Number.POSITIVE_INFINITY, () => {}),
      world.owner,
      { ...world.profile, requirement: world.profile.approval },
    );
    this.intake = new Intake(this.ledger, world);
  }

  arrive(): Promise<void> {
    return registerRealm(this.ledger);
  }

  /** The numbers of the batches in the store, by batch id. */
  async numbers(): Promise<ReadonlyMap<string, string>> {
    return new Map(
      Object.entries(await this.ledger.scripts.redis.hgetall(`${this.ledger.keyPrefix}:batches`)),
    );
  }

  /** The batches among them that journals have restored: their files must be imported again. */
  async recovered(): Promise<ReadonlySet<string>> {
    const found = [...(await this.numbers())].map(async ([id, no]) => {
      const [recovered, state] = await batchFacts({ ledger: this.ledger, no }, 'recovered', 'state');
      return recovered === '1' && state !== 'cancelled' ? [id] : [];
    });
    return new Set((await Promise.all(found)).flat());
  }

  /** The current state of the batch; undefined if the store does not have it. */
  async look(file: File): Promise<BatchSight | undefined> {
    const { redis } = this.ledger.scripts;
    const no = await redis.hget(`${this.ledger.keyPrefix}:batches`, file.id);
    if (no === null) return undefined;
    const keys = batchKeys(this.ledger.keyPrefix, no);
    const [[state, recovered], stored, known] = await Promise.all([
      redis.hmget(keys.meta, 'state', 'recovered'),
      redis.hgetall(keys.records(0)),
      redis.hkeys(keys.recoveredRows),
    ]);
    if (state == null || state === 'importing') return undefined;
    const absent = new Set(recovered === '1' ? file.rows.map((_, i) => i + 1) : []);
    for (const index of known) absent.delete(Number(index));
    return { no, state, records: file.rows.map((_, i) => decodeRecord(stored[String(i + 1)])), absent };
  }

  async steer(verb: 'pause' | 'resume' | 'cancel', { id }: File, no: string): Promise<void> {
    const batch = { ledger: this.ledger, no, id };
    const audit = { at: this.moment(), who: 'ada', what: verb, why: null };
    if (verb === 'pause') await pauseBatch(batch, WHY, audit);
    else if (verb === 'cancel') await cancelBatch(batch, audit);
    else {
      await resume(this.ledger, audit);
      await resumeBatch(batch, audit, { owner: '' });
    }
  }

  /** `almoner resume --after-rollback`. */
  async resumeAfterRollback(): Promise<void> {
    const audit = { at: this.moment(), who: 'ada', what: 'resumed after a rollback', why: null };
    await resume(this.ledger, audit);
  }

  async approve({ id }: File, no: string, who: string): Promise<string> {
    return approveBatch({ ledger: this.ledger, no, id }, who, undefined, this.moment());
  }

  /** Why the batch may not begin. */
  async closed({ id }: File, no: string): Promise<string | null> {
    const view = await readBatch({ ledger: this.ledger, no, id });
    return view?.state === 'planned' || view?.state === 'running' ? (view.gate?.closed ?? null) : null;
  }

  /** Restarts a halted realm, after its key was tested. */
  async release(): Promise<void> {
    await releaseRealm(this.ledger);
  }

  async retry(file: File, no: string, index: number): Promise<void> {
    const row = await this.row(no, index);
    const by = { who: 'ada', why: null, at: this.moment(), nonce: newNonce() };
    const letter = { index, row };
    await new PaidSince({ ledger: this.ledger, no, id: file.id }, [letter]).retry(letter, by);
  }

  /** Decides a doubt as `almoner doubt resolve` does. */
  async resolve(
    file: File,
    no: string,
    index: number,
    record: Pick<OrderRecord, 'doubt' | 'tries'>,
    paid: boolean,
  ): Promise<void> {
    const at = this.moment();
    await conclude(this.ledger, { no, index }, await this.row(no, index), {
      about: { batch: file.id, doubt: record.doubt ?? '' },
      to: paid ? 'paid' : 'exhausted',
      evidence: 'operator',
      detail: {
        event: 'concluded',
        at,
        state: paid ? 'paid' : 'exhausted',
        by: 'ada',
        code: paid ? null : 'ALM_SEND_SAID_UNPAID',
        message: 'ada has looked',
      },
      dueInMs: 0,
      audit: JSON.stringify({ at, who: 'ada', what: 'resolved', why: 'seen' }),
      balance: null,
      tries: record.tries,
      settleMs: this.world.profile.settleMs,
    });
  }

  /** Runs `almoner recover` on this machine; with a session, `--accept-missing` it. */
  recover(machine: Machine, lost: string | null): Promise<void> {
    return this.decide(machine, { acceptMissing: lost });
  }

  /** Runs `almoner recover --retire-unseen-since` with the current time. */
  retireFolders(machine: Machine): Promise<void> {
    return this.decide(machine, { retireUnseenSinceMs: Number.MAX_SAFE_INTEGER });
  }

  private decide(machine: Machine, decision: Decision): Promise<void> {
    const { profile } = this.world;
    const limits = { mergePatienceMs: 0 };
    const config = { profiles: [profile], dataFolder: machine.folder, operator: 'ada', limits };
    const app: App = Object.create(App.prototype, {
      scripts: {
        value: new ScriptClient(this.link.redis, Number.POSITIVE_INFINITY, () => {}, { here: machine.here }),
      },
      config: { value: config },
      openings: { value: new Map() },
      logger: { value: { warn: ({ message }: { message: string }) => this.world.trouble(message) } },
    });
    return on(machine, async () => {
      await recoverRealms(app, decision).catch((error: unknown) => {
        if (error instanceof TypeError || error instanceof ReferenceError) this.world.broke(error);
        this.world.trouble(String(error));
      });
    });
  }

  async folders(): Promise<string[]> {
    return (await listFolders(this.ledger)).map(({ id }) => id);
  }

  async sessions(): Promise<string[]> {
    return (await listSessions(this.ledger)).map(({ id }) => id);
  }

  /**
   * Whether a person has accepted that some payments are in no journal. The program then refuses files that may repeat
   * them, and says why.
   */
  async acceptedLoss(): Promise<boolean> {
    return (await this.ledger.scripts.redis.hexists(this.ledger.keyPrefix, 'gap')) === 1;
  }

  async armed(): Promise<boolean> {
    return (await readFence(this.ledger)).armed;
  }

  /** The waiting orders for which the program reports a reason. */
  async named(file: File, { no }: BatchSight): Promise<ReadonlySet<number>> {
    return new Set((await namedOrders({ ledger: this.ledger, no, id: file.id })).keys());
  }

  /** The file that `almoner undo` writes; null if it refuses. */
  async undoFile(file: File, no: string): Promise<string | null> {
    let text = '';
    try {
      await writeUndo({ ledger: this.ledger, no, id: file.id }, { profiles: [] }, (line) => {
        text += line;
        return undefined;
      });
      return text;
    } catch (error) {
      if (!isAlmonerError(error)) throw error;
      this.world.trouble(error.message);
      return null;
    }
  }

  private async row(no: string, index: number): Promise<PlannedOrder> {
    const row = await new PlanReader(this.ledger).row(no, index);
    const { order } = row;
    if (order === null) throw new Error(`row ${index} of batch ${no} is no order`);
    return { ...row, order };
  }

  /** Returns a new moment for each call: audit entries and details are told apart by their text. */
  private moment(): number {
    this.moments += 1;
    return Date.now() + this.moments;
  }
}
