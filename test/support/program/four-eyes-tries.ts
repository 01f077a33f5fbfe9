import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Role } from '../../../src/core/people.js';
import {
  type BatchRef,
  decodePlanBlock,
  keepRequirement,
  type RealmLedger,
  readBatch,
  storeSource,
} from '../../../src/ledger/index.js';
import { listBatches } from '../../../src/ledger/read/batches.js';
import { disarm, readFence } from '../../../src/ledger/sessions/fence.js';
import { writeUndo } from '../../../src/operations/batches/undo.js';
import { retryDead } from '../../../src/operations/dead/retry-discard.js';
import { planFile, planToPay } from '../../../src/operations/pay/plan-file.js';
import { importBatch, storeBatch } from '../../../src/operations/pay/store-batch.js';
import { approve, changeRequired } from '../../../src/operations/people/approve.js';
import { addToken, revokeToken } from '../../../src/operations/people/manage-tokens.js';
import { syncRules } from '../../../src/operations/rules/sync.js';
import { scheduledRules } from '../../../src/rules/approvals.js';
import type { App } from '../../../src/runtime/app.js';
import { testBatch } from '../ledger/ledgers-on-redis.js';
import { begin, feedAll, settleAs } from '../ledger/order-moves.js';
import type { TestRedis } from '../redis-server.js';
import { Program } from './program.js';

/** The store, two profiles of one realm, and one try of three people to get something paid that only one has seen. */
export const LIMIT = 100;
/** Of another's file: more than anybody here prepares. */
const LAX = 1_000_000;
export const PEOPLE = ['ada', 'ben', 'cleo'] as const;
export const ROLES: Readonly<Record<string, readonly Role[]>> = {
  ada: ['operator', 'approver'],
  ben: ['operator', 'approver'],
  cleo: ['operator'],
};
const BEGIN = Math.floor(Math.random() * 1e9);

const CHOICES = {
  again: null,
  currency: null,
  newAddress: false,
  newLedger: false,
  newRowsOnly: false,
  skipInvalid: false,
  expectRows: null,
  expectTokens: null,
};

export let redis: TestRedis;
let program: Program;
let folder: string;
export let strict: App;
let lax: App;
export async function startEyes(): Promise<void> {
  program = await Program.start({ realm: 'embedded', env: { K: 'k'.repeat(40) } });
  ({ folder, store: redis } = program);
  const realm = { baseUrl: 'http://127.0.0.1:9', realmId: 'town', keyEnv: 'K', certainty: 'idempotent' };
  const open = async (name: string, profile: object) => {
    const text = JSON.stringify({ realms: { town: { ...realm, ...profile } } });
    const env = { ALMONER_CONFIG: await program.file(`${name}.yaml`, text), ALMONER_JOBS: folder };
    return program.app({ env, clientName: name });
  };
  strict = await open('strict', { approval: { overTokens: LIMIT } });
  lax = await open('lax', { approval: { overTokens: LAX } });
}

export async function endEyes(): Promise<void> {
  await program.end();
}

type Kept = {
  readonly preparer: string | null;
  /** A schedule's: the rule's text had the go of two. */
  readonly byRule: boolean;
  goes: Set<string>;
  begun: boolean;
  /** It began while nothing was required. */
  free: boolean;
};

/** The store at a moment, and which goes had been used by then. */
export type Snapshot = {
  readonly keys: ReadonlyMap<string, Buffer>;
  readonly begun: ReadonlyMap<string, Kept>;
  readonly required: boolean;
  readonly roles: ReadonlyMap<string, readonly Role[]>;
  readonly wishes: ReadonlySet<string>;
};

/** One try: a store of its own, what was done, and what was paid. */
export class Try {
  readonly batches = new Map<string, Kept>();
  readonly alone = new Map<string, number>();
  /** Whether the books know that a second person is required. */
  required = false;
  private readonly refused = new Set<string>();
  private readonly counted = new Set<string>();
  private wishes = new Set<string>();
  private ruleAsked = new Set<string>();
  private seen = 0;
  private rows = BEGIN;

  constructor(
    public roles: Map<string, readonly Role[]>,
    readonly ledger: RealmLedger,
  ) {}

  /** Somebody new: no row repeats another. */
  private member(): string {
    this.rows += 1;
    return String(this.rows);
  }

  as(who: string, app = strict): App {
    return app.as({ name: who, roles: this.roles.get(who) ?? [] });
  }

  async refs(): Promise<BatchRef[]> {
    return listBatches(this.ledger);
  }

  async prepare(who: string, amounts: readonly number[], options: { lax: boolean; replaces?: string }) {
    const app = this.as(who, options.lax ? lax : strict);
    const rows = amounts.map((tokens) => [this.member(), String(tokens), options.replaces ?? '']);
    const file = join(folder, 'file.csv');
    await writeFile(file, ['member,tokens,almoner_order', ...rows.map((row) => row.join())].join('\n'));
    return this.enter(app, who, file);
  }

  async enter(app: App, who: string, file: string): Promise<void> {
    this.required ||= app.config.profiles === strict.config.profiles;
    const [profile] = app.config.profiles;
    if (profile === undefined) throw new Error('no realm');
    const { realm, planned } = await planToPay(app, profile, { file, map: [], ...CHOICES });
    try {
      if (planned.plan.findings.faultCount > 0) return;
      const { ref, existing } = await importBatch(app, realm, planned, { batchId: null, inOrder: false });
      if (!existing)
        this.batches.set(ref.id, {
          preparer: who,
          byRule: false,
          goes: new Set(),
          begun: false,
          free: false,
        });
    } finally {
      planned.plan.findings.close();
    }
  }

  async sayGo(who: string, ref: BatchRef, seal: string): Promise<void> {
    const kept = this.batches.get(ref.id);
    const answer = await approve(this.as(who), ref, seal);
    const view = await readBatch(ref);
    if (!this.roles.get(who)?.includes('approver')) throw new Error(`${who} may not approve and did`);
    if (seal !== view?.sealHash) throw new Error('a go for something else was taken');
    if (answer === 'approved' || answer === 'taken-up') kept?.goes.add(who);
  }

  /** Whatever the ledger lets out is paid, or refused. */
  async work(refuse: boolean): Promise<void> {
    for (const ref of await this.refs()) {
      const view = await readBatch(ref);
      if (view === undefined || view.archived) continue;
      const block = await storeSource(ref).plan(0);
      const batch = testBatch(this.ledger, ref.no, ref.id, block === null ? [] : decodePlanBlock(block));
      await feedAll(batch);
      for (const [at, row] of batch.rows.entries()) {
        if (row.order === null) continue;
        const nonce = `n${Math.random()}`;
        const begun = await begin(batch, at + 1, { nonce });
        if ('refusal' in begun) continue;
        this.seen = Math.max(this.seen, begun.seq);
        await settleAs(batch, at + 1, refuse ? 'R' : 'P', begun);
        if (refuse) this.refuse(ref.id, at + 1);
        else this.paid(ref.id, at + 1, row.order.tokens);
      }
    }
  }

  private refuse(id: string, index: number): void {
    const kept = this.batches.get(id);
    if (kept === undefined) throw new Error(`batch ${id} was sent, and nobody entered it`);
    this.refused.add(`${id}-${index}`);
    kept.begun = true;
    if (!this.required) kept.free = true;
  }

  private paid(id: string, index: number, tokens: number): void {
    const kept = this.batches.get(id);
    if (kept === undefined) throw new Error(`batch ${id} was paid, and nobody entered it`);
    const order = `${id}-${index}`;
    const again = this.refused.has(order);
    if (!this.required) kept.free = true;
    // What began while nothing was required goes on; a dead letter of it is another matter.
    const isFree = !this.required || (kept.free && !again) || kept.byRule;
    kept.begun = true;
    if (isFree || this.counted.has(order)) return;
    const others = [...kept.goes].filter((name) => name !== kept.preparer);
    if (kept.preparer === null ? others.length >= 2 : others.length >= 1) return;
    if (kept.preparer === null) throw new Error(`batch ${id} was paid, and nobody known had prepared it`);
    // The journals, which are not played here, know after a rollback what was paid.
    this.counted.add(order);
    const sum = (this.alone.get(kept.preparer) ?? 0) + tokens;
    this.alone.set(kept.preparer, sum);
    if (sum > LIMIT) throw new Error(`${kept.preparer} got ${sum} paid without a second person`);
  }

  async retry(who: string, ref: BatchRef): Promise<void> {
    const block = await storeSource(ref).plan(0);
    const rows = block === null ? [] : decodePlanBlock(block);
    const places = rows.map((_, at) => ({ ref, index: at + 1 }));
    await retryDead(this.as(who), places, { who, why: null, newAddress: false }, () => {});
  }

  async undo(who: string, ref: BatchRef): Promise<void> {
    const file = join(folder, 'undo.csv');
    let text = '';
    await writeUndo(ref, { profiles: [] }, (more) => {
      text += more;
      return undefined;
    });
    await writeFile(file, text);
    await this.enter(this.as(who), who, file);
  }

  /** Another token under the same name, with other roles. */
  async changeRoles(who: string, roles: readonly Role[]): Promise<void> {
    await revokeToken(strict, who);
    for (const [, kept] of this.batches) if (!kept.begun) kept.goes.delete(who);
    this.wishes.delete(who);
    await addToken(strict, who, roles);
    this.roles.set(who, roles);
  }

  async weaken(who: string): Promise<void> {
    const [profile] = lax.config.profiles;
    if (profile === undefined) return;
    // The ledger notes a refused wish too; an approver can agree to it later.
    this.wishes.add(who);
    const { changed } = await changeRequired(this.as(who, lax), lax.books(profile));
    if (!changed) return;
    if (this.wishes.size < 2) throw new Error(`${who} alone made the realm require less`);
    this.required = false;
  }

  async approveRule(who: string, tokens: number): Promise<void> {
    const text = `name: daily\nrealm: town\nschedule: { cron: "0 9 * * *", timezone: UTC, missed: once }\nperiod: day\naudience: { members: ["5"] }\naward: { tokens: ${tokens} }\nlimits: { perRun: 100000 }\nreason: x\n`;
    await writeFile(join(folder, 'daily.yaml'), text);
    this.required = true;
    const before = (await scheduledRules(this.ledger))[0];
    const { rules } = await syncRules(this.as(who), { cwd: folder, approve: ['daily'], prune: false });
    const [after] = await scheduledRules(this.ledger);
    if (before?.hash !== after?.hash) this.ruleAsked = new Set();
    this.ruleAsked.add(who);
    if (rules[0]?.approvedNow === true && this.required && this.ruleAsked.size < 2)
      throw new Error(`${who} alone gave a rule its go`);
  }

  /** A schedule's batch: nobody prepares it, and only a text with the go of two lets it begin. */
  async scheduled(amount: number): Promise<void> {
    const [entry] = await scheduledRules(this.ledger);
    const [profile] = strict.config.profiles;
    if (entry === undefined || entry.approved === null || profile === undefined) return;
    const file = join(folder, 'scheduled.csv');
    await writeFile(file, `member,tokens\n${this.member()},${amount}\n`);
    const realm = await strict.realm(profile);
    this.required = true;
    const planned = await planFile(realm, { file, map: [], ...CHOICES }, Date.now(), strict);
    const at = entry.approved.at + 1;
    const last = JSON.stringify({
      at,
      result: 'enqueued',
      run: 'r',
      batch: null,
      message: null,
      skipped: 0,
      finishedAt: at,
    });
    const run = {
      account: `daily ${this.rows}`,
      limit: null,
      number: null,
      id: `r${this.rows}`,
      record: '{}',
      schedule: {
        rule: 'daily',
        hash: entry.hash,
        audience: entry.approved.audience ?? '',
        last,
        missed: null,
        only: true,
      },
    };
    const { ref } = await storeBatch(strict, realm, planned, {
      batchId: null,
      inOrder: false,
      session: null,
      run,
    });
    planned.plan.findings.close();
    const byTwo = entry.approved.asked !== null && this.ruleAsked.size >= 2;
    this.batches.set(ref.id, { preparer: null, byRule: byTwo, goes: new Set(), begun: false, free: false });
  }

  /** The store is as it was then; whoever sent since knows that it forgot. */
  async rollBack({ keys, begun, required, roles, wishes }: Snapshot): Promise<void> {
    const client = redis.client();
    await client.flushall();
    for (const [key, dump] of keys) await client.restore(key, 0, dump);
    // Somebody whose profile requires it is always about.
    if (required || this.required) await keepRequirement(this.ledger, { overTokens: LIMIT, overRows: null });
    this.required ||= required;
    this.roles = new Map(roles);
    this.wishes = new Set(wishes);
    const fence = await readFence(this.ledger);
    if (this.seen > fence.seq) {
      await disarm(
        this.ledger,
        { at: Date.now(), seen: this.seen, found: fence.seq, by: 'a sender' },
        'behind',
        {},
      );
      await this.ledger.scripts.script('arm', this.ledger.keyPrefix, [
        fence.run,
        `era${Math.random()}`,
        this.seen,
        'continue',
      ]);
      // What was said before counts for nothing that had not begun by then.
      for (const [id, one] of this.batches) {
        const then = begun.get(id);
        if (then === undefined) Object.assign(one, { goes: new Set(), begun: false, free: false });
        else Object.assign(one, { ...then, goes: new Set(then.goes) });
      }
    }
  }

  async dump(): Promise<Snapshot> {
    const client = redis.client();
    const keys = new Map<string, Buffer>();
    for (const key of await client.keys('*')) {
      const dump = await client.dumpBuffer(key);
      if (dump !== null) keys.set(key, dump);
    }
    const begun = [...this.batches].filter(([, one]) => one.begun);
    const copies = begun.map(([id, one]) => [id, { ...one, goes: new Set(one.goes) }] as const);
    return {
      keys,
      begun: new Map(copies),
      required: this.required,
      roles: new Map(this.roles),
      wishes: new Set(this.wishes),
    };
  }
}
