import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Role } from '../../../src/core/people.js';
import { type BatchRef, planning, type RealmLedger, readBatch, reading } from '../../../src/ledger/index.js';
import { storeSource } from '../../../src/ledger/read/batch-source.js';
import { listBatches } from '../../../src/ledger/read/batches.js';
import { approve, previewApproval } from '../../../src/operations/approvals/approvals.js';
import { revokeToken } from '../../../src/operations/approvals/revoke-token.js';
import { writeUndo } from '../../../src/operations/batches/undo.js';
import { retriesOf } from '../../../src/operations/dead/retries.js';
import { retryDead } from '../../../src/operations/dead/retry-discard.js';
import { planFile, planToPay } from '../../../src/operations/pay/plan-file.js';
import { importBatch, storeBatch } from '../../../src/operations/pay/store-batch.js';
import { addToken } from '../../../src/operations/people/manage-tokens.js';
import { listRules } from '../../../src/operations/rules/list.js';
import { syncRules } from '../../../src/operations/rules/sync.js';
import { scheduledRules } from '../../../src/rules/approvals.js';
import type { App } from '../../../src/runtime/app.js';
import { testBatch } from '../ledger/ledgers-on-redis.js';
import { begin, feedAll, settleAs } from '../ledger/order-moves.js';
import type { TestRedis } from '../redis-server.js';
import { Program } from './program.js';

/**
 * Three people try to get amounts paid that only one of them has seen. All payments above this limit need two people.
 */
const LIMIT = 100;
export const PEOPLE = ['ada', 'ben', 'cleo'] as const;
export const ROLES: Readonly<Record<string, readonly Role[]>> = {
  ada: ['operator', 'approver'],
  ben: ['operator', 'approver'],
  cleo: ['operator'],
};
const BEGIN = Math.floor(Math.random() * 1e9);
const HOUR_MS = 3_600_000;

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
/**
 * The sending process uses the profile `strict`. `lax` is another configuration file, which requires no approval;
 * people may prepare with it.
 */
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
  lax = await open('lax', {});
}

export async function endEyes(): Promise<void> {
  await program.end();
}

type Kept = {
  readonly preparer: string | null;
  /** A schedule's batch: two people approved the rule's text with these members. */
  readonly byRule: boolean;
  /** The people who approved the whole batch before any of it was sent. */
  readonly approvedBy: Set<string>;
  /** Later approvals: for each order, the people who approved it as it was to be sent at that time. */
  readonly rest: Map<string, Set<string>>;
};

/** One try on an empty ledger: what people did, and what was paid. */
export class Try {
  readonly batches = new Map<string, Kept>();
  readonly alone = new Map<string, number>();
  begun = 0;
  /**
   * By order: the person who retried it last with its attempts before, and the person who approved exactly that retry.
   */
  private readonly retried = new Map<string, string>();
  private readonly approvedRetries = new Map<string, { readonly asked: string; readonly by: string }>();
  private readonly refused = new Set<string>();
  /** By hash of the rule as shown: the people who requested or gave its approval. */
  private readonly ruleSaid = new Map<string, Set<string>>();
  private rows = BEGIN;

  constructor(
    public roles: Map<string, readonly Role[]>,
    readonly ledger: RealmLedger,
  ) {}

  /** A member that no other row uses, so that no row repeats another. */
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

  async prepare(
    who: string,
    amounts: readonly number[],
    options: { readonly lax: boolean; readonly replaces?: string; readonly startsAt?: number | null },
  ) {
    const app = this.as(who, options.lax ? lax : strict);
    const rows = amounts.map((tokens) => [this.member(), String(tokens), options.replaces ?? '']);
    const file = join(folder, 'file.csv');
    await writeFile(file, ['member,tokens,almoner_order', ...rows.map((row) => row.join())].join('\n'));
    return this.enter(app, who, file, options.startsAt ?? null);
  }

  private async enter(app: App, who: string, file: string, startsAt: number | null): Promise<void> {
    const [profile] = app.config.profiles;
    if (profile === undefined) return;
    const { realm, planned } = await planToPay(app, profile, { file, map: [], ...CHOICES });
    try {
      if (planned.plan.findings.faultCount > 0) return;
      const start = startsAt === null ? null : { at: startsAt, zone: 'UTC' };
      const wish = { ...planned, preview: { ...planned.preview, start } };
      const { ref, existing } = await importBatch(app, realm, wish, { batchId: null, inOrder: false });
      if (!existing)
        this.batches.set(ref.id, { preparer: who, byRule: false, approvedBy: new Set(), rest: new Map() });
    } finally {
      planned.plan.findings.close();
    }
  }

  /** The hash that a person sees before they approve; null if there is nothing to approve. */
  async look(ref: BatchRef): Promise<string | null> {
    const shown = await previewApproval(strict, ref).catch(() => null);
    return shown?.hash ?? null;
  }

  private async planned(ref: BatchRef): Promise<string[]> {
    const { length } = (await this.rowsOf(ref)) ?? [];
    const indexes = Array.from({ length }, (_, at) => at + 1);
    const states = await Promise.all(
      indexes.map(async (index) => reading.orders.stateOf(await reading.orders.record(ref, index))),
    );
    return indexes.filter((_, at) => states[at] === 'planned').map((index) => `${ref.id}-${index}`);
  }

  private async rowsOf(ref: BatchRef) {
    const block = await storeSource(ref).plan(0);
    return block === null ? [] : planning.blocks.decode(block);
  }

  /** `hash`: what the person viewed, perhaps a while ago, or from another batch. */
  async approve(who: string, ref: BatchRef, hash: string): Promise<void> {
    const before = await previewApproval(strict, ref);
    await approve(this.as(who), ref, hash);
    if (!this.roles.get(who)?.includes('approver')) throw new Error(`${who} may not approve and did`);
    if (hash !== before.hash) throw new Error('an approval of something else was taken');
    const kept = this.batches.get(ref.id);
    if (before.letters === null && before.view.startedAt === null) kept?.approvedBy.add(who);
    else if (before.letters === null)
      for (const order of await this.planned(ref))
        kept?.rest.set(order, new Set([...(kept.rest.get(order) ?? []), who]));
    else
      for (const { order, attempts } of before.letters)
        this.approvedRetries.set(`${order} ${attempts}`, { asked: before.asked.who ?? '', by: who });
  }

  /** Delivers every order that the ledger releases; it is paid or refused. */
  async work(refused: 'none' | 'all' | 'every second'): Promise<void> {
    for (const ref of await this.refs()) {
      const view = await readBatch(ref);
      if (view === undefined || view.archived) continue;
      const batch = testBatch(this.ledger, ref.no, ref.id, await this.rowsOf(ref));
      await feedAll(batch);
      for (const [at, row] of batch.rows.entries()) {
        if (row.order === null) continue;
        const nonce = `n${Math.random()}`;
        const begun = await begin(batch, at + 1, { nonce });
        if ('refusal' in begun) continue;
        this.begun += 1;
        const refuse = refused === 'all' || (refused === 'every second' && at % 2 === 1);
        await settleAs(batch, at + 1, refuse ? 'R' : 'P', begun, { nonce });
        const order = `${ref.id}-${at + 1}`;
        if (refuse) this.refused.add(order);
        else this.paid(ref.id, order, row.order.tokens);
      }
    }
  }

  private paid(id: string, order: string, tokens: number): void {
    const kept = this.batches.get(id);
    if (kept === undefined) throw new Error(`batch ${id} was paid, and none of them entered it`);
    const others = [...kept.approvedBy].filter((name) => name !== kept.preparer);
    if (kept.byRule || others.length > 0) return;
    const retry = this.retried.get(order);
    if ([...(kept.rest.get(order) ?? [])].some((name) => name !== kept.preparer && name !== retry)) return;
    const who = this.refused.has(order) ? retry : kept.preparer;
    if (who === undefined || who === null)
      throw new Error(`order ${order} was paid, and no known person wanted it`);
    if (who === 'approved') return;
    const sum = (this.alone.get(who) ?? 0) + tokens;
    this.alone.set(who, sum);
    if (sum > LIMIT) throw new Error(`${who} got ${sum} paid without a second person`);
  }

  async retry(who: string, ref: BatchRef, only: number | null, isLax: boolean): Promise<void> {
    const rows = await this.rowsOf(ref);
    const all = rows.map((_, at) => ({ ref, index: at + 1 }));
    const places = only === null ? all : all.slice(only, only + 1);
    const before = await previewLetters(
      ref,
      places.map(({ index }) => index),
    );
    const { taken } = await retryDead(
      this.as(who, isLax ? lax : strict),
      places,
      { who, why: null, newAddress: false },
      () => {},
    );
    for (const { index } of taken) {
      const order = `${ref.id}-${index}`;
      const approved = this.approvedRetries.get(`${order} ${before.get(order)}`);
      const isByTwo = approved !== undefined && approved.asked !== approved.by;
      this.approvedRetries.delete(`${order} ${before.get(order)}`);
      this.retried.set(order, isByTwo ? 'approved' : who);
      this.batches.get(ref.id)?.rest.delete(order);
    }
  }

  async undo(who: string, ref: BatchRef): Promise<void> {
    const file = join(folder, 'undo.csv');
    let text = '';
    await writeUndo(ref, { profiles: [] }, (more) => {
      text += more;
      return undefined;
    });
    await writeFile(file, text);
    await this.enter(this.as(who), who, file, null);
  }

  /**
   * Issues another token under the same name with other roles. The unused approvals of the first token are withdrawn.
   */
  async changeRoles(who: string, roles: readonly Role[]): Promise<void> {
    await revokeToken(strict, who);
    for (const [id, kept] of this.batches) {
      const ref = (await this.refs()).find((one) => one.id === id);
      const view = ref && (await readBatch(ref));
      if (view?.gate === null) continue;
      kept.approvedBy.delete(who);
      for (const names of kept.rest.values()) names.delete(who);
    }
    for (const [order, { asked, by }] of this.approvedRetries)
      if (asked === who || by === who) this.approvedRetries.delete(order);
    await addToken(strict, who, roles);
    this.roles.set(who, roles);
  }

  /** Approves the rule as the person saw it. `swapped`: its list of members changes before the approval. */
  async approveRule(
    who: string,
    {
      tokens,
      members,
      swapped,
      isLax,
    }: { tokens: number; members: number; swapped: boolean; isLax: boolean },
  ): Promise<void> {
    await this.writeRule(tokens, members);
    const app = this.as(who, isLax ? lax : strict);
    const [listed] = await listRules(app, folder);
    const seen = listed?.text?.hash;
    if (seen === undefined) return;
    if (swapped) await this.writeRule(tokens, members + 1);
    const request = { cwd: folder, approve: ['daily'], prune: false, seen };
    const { rules } = await syncRules(app, request);
    if (swapped) throw new Error(`${who} approved a rule whose members were others by then`);
    const said = this.ruleSaid.get(seen) ?? new Set();
    this.ruleSaid.set(seen, said.add(who));
    if (!isLax && rules[0]?.approvedNow === true && said.size < 2)
      throw new Error(`${who} alone approved a rule`);
  }

  private async writeRule(tokens: number, members: number): Promise<void> {
    const list = Array.from({ length: members }, (_, at) => `${at + 5}\n`).join('');
    await writeFile(join(folder, 'list.csv'), `member\n${list}`);
    const text = `name: daily\nrealm: town\nschedule: { cron: "0 9 * * *", timezone: UTC, missed: once }\nperiod: day\naudience: { file: list.csv }\naward: { tokens: ${tokens} }\nlimits: { perRun: 100000 }\nreason: x\n`;
    await writeFile(join(folder, 'daily.yaml'), text);
  }

  /** A schedule's batch: no person prepares it, and it begins once two people have approved its text and members. */
  async scheduled(amount: number, swapped: boolean): Promise<void> {
    const [entry] = await scheduledRules(this.ledger);
    const [profile] = strict.config.profiles;
    if (entry?.approved == null || profile === undefined) return;
    const file = join(folder, 'scheduled.csv');
    await writeFile(file, `member,tokens\n${this.member()},${amount}\n`);
    const realm = await strict.realm(profile);
    const planned = await planFile(realm, { file, map: [], ...CHOICES }, Date.now(), strict);
    const at = entry.approved.at + 1;
    const last = {
      at,
      period: String(this.rows),
      result: 'enqueued',
      run: 'r',
      batch: null,
      message: null,
      skipped: 0,
      finishedAt: at,
    };
    const preparer = entry.approved.asked ?? entry.approved.who;
    const run = {
      account: `daily ${this.rows}`,
      limit: null,
      number: null,
      id: `r${this.rows}`,
      record: '{}',
      schedule: {
        rule: 'daily',
        hash: entry.hash,
        audience: swapped ? 'others' : (entry.approved.audience ?? ''),
        preparer,
        last: JSON.stringify(last),
        missed: null,
        only: true,
      },
    };
    const wish = { batchId: null, inOrder: false, session: null, run };
    const { ref } = await storeBatch(strict, realm, planned, wish);
    // The run has no plan, and lists of runs would fail without its record.
    await redis.client().hdel(`${this.ledger.keyPrefix}:rules:runs`, run.id);
    planned.plan.findings.close();
    const byRule = entry.approved.asked !== null && entry.approved.asked !== entry.approved.who && !swapped;
    this.batches.set(ref.id, { preparer, byRule, approvedBy: new Set(), rest: new Map() });
  }

  /** Moves the set time of each batch an hour nearer. */
  async passTime(): Promise<void> {
    for (const { no } of await this.refs()) {
      const key = `${this.ledger.keyPrefix}:b:${no}`;
      const startAt = await redis.client().hget(key, 'startAt');
      if (startAt !== null) await redis.client().hset(key, 'startAt', Number(startAt) - HOUR_MS);
    }
  }
}

/** How many attempts each order has had. */
async function previewLetters(
  ref: BatchRef,
  indexes: readonly number[],
): Promise<ReadonlyMap<string, number>> {
  const { letters } = await retriesOf(ref, indexes);
  return new Map(letters.map(({ order, attempts }) => [order, attempts]));
}
