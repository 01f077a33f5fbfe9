import { createHash } from 'node:crypto';
import { AlmonerError } from '../core/errors/error.js';
import { Line } from '../core/line.js';
import { isAtWork } from '../core/what-waits.js';
import { allLedgers, PlanReader, readSigns } from '../ledger/index.js';
import { standsStill } from '../operations/batches/batch-status.js';
import { reportBatch } from '../operations/batches/report.js';
import { cancel, pause, resume } from '../operations/batches/steer.js';
import { writeUndo } from '../operations/batches/undo.js';
import { waitingOfAll } from '../operations/batches/waiting.js';
import {
  discardDead,
  type Mended as MendedOrders,
  refuseMoved,
  retryDead,
} from '../operations/dead/retry-discard.js';
import { doubtEvidence } from '../operations/doubts/evidence.js';
import {
  arrivingError,
  checkRulings,
  mayArrive,
  resolveDoubts,
  type Verdict,
} from '../operations/doubts/resolve.js';
import { type Planned, planDocument, planFile } from '../operations/pay/plan-file.js';
import { importBatch, standing } from '../operations/pay/store-batch.js';
import { mergeIfRestored } from '../operations/services/recover.js';
import { refuseUnsafeStore } from '../operations/services/store-safety.js';
import type { App } from '../runtime/app.js';
import { pickProfile } from '../runtime/config/config.js';
import type { OrderPlace } from './by.js';
import type { DeskDeps, DoubtEvidence, Mended, PlannedUpload } from './deps.js';

/** The operations of the command line, handed to the desk: both do the same thing in the same way. */
export function deskDeps(app: App, given: Pick<DeskDeps, 'version' | 'webFolder' | 'rules'>): DeskDeps {
  const { config, logger, scripts, store } = app;
  // Reads of the realm, one at a time: however often somebody asks, payments keep most of the pace.
  const asking = new Line(1);
  return {
    ...given,
    logger,
    scripts,
    store: { embedded: store.embedded, address: store.address },
    connect: (use) => store.connect(use),
    profiles: config.profiles,
    dataFolder: config.dataFolder,
    reportsFolder: config.reportsFolder,
    standsStill: (ref, view) => standsStill(ref, view, config),
    waiting: (batches) => waitingOfAll(batches, config),
    processes: () => processes(app),
    async steer(ref, verb, by) {
      if (verb === 'pause') await pause(ref, by);
      else if (verb === 'resume') await resume(app, ref, by);
      else await cancel(ref, by);
    },
    async writeReport(ref) {
      await reportBatch(ref, new PlanReader(ref.ledger), config);
    },
    async undo(ref, write) {
      const { rows, leftOut } = await writeUndo(ref, write);
      if (rows === 0)
        throw new AlmonerError(
          'ALM_BATCH_CANNOT',
          `Batch ${ref.id} holds nothing that could be taken back.`,
          {
            details: leftOut.map(({ orders, message }) => `${orders} orders ${message}`),
          },
        );
    },
    plan: (file, { who }) => planUpload(app.as(who), file),
    retryDead: async (places, by, onProgress) => mended(await retryDead(app, places, by, onProgress)),
    checkAddresses: refuseMoved,
    discardDead: async (places, { who, why }, onProgress) =>
      mended(await discardDead(app, places, { who, why: why ?? '' }, onProgress)),
    doubt: (place, readNow) =>
      readNow ? asking.through(() => evidence(app, place, true)) : evidence(app, place, false),
    resolveDoubts: (places, decision, by, onProgress) => resolve(app, places, decision, by, onProgress),
    async checkArriving(places) {
      const rulings = places.map((place) => ({ place, verdict: 'unpaid' as const }));
      const arriving = await mayArrive(app, rulings);
      if (arriving.length > 0) throw arrivingError(arriving);
    },
  };
}

async function processes(app: App): ReturnType<DeskDeps['processes']> {
  const found = new Map<string, Awaited<ReturnType<DeskDeps['processes']>>[number]>();
  for (const ledger of await allLedgers(app.scripts)) {
    const { nowMs, signs } = await readSigns(ledger);
    for (const sign of signs) {
      const { session, kind, machine, life } = sign;
      const known = found.get(session);
      const silent = life !== 'dead' && !isAtWork(sign, nowMs);
      // One that is heard in any realm is not silent.
      const state = silent ? (known?.state ?? 'silent') : life;
      found.set(session, {
        session,
        kind,
        machine,
        state,
        realms: [...(known?.realms ?? []), ledger.realm.name],
      });
    }
  }
  return [...found.values()];
}

async function planUpload(app: App, file: Parameters<DeskDeps['plan']>[0]): Promise<PlannedUpload> {
  const profile = pickProfile(app.config, file.realm);
  await mergeIfRestored(app, profile);
  const realm = await app.realm(profile);
  const { path, name: _, realm: _named, ...options } = file;
  const request = { file: path, ...options, expectRows: null, expectTokens: null };
  const { plan, preview } = await planFile(realm, request, Date.now());
  const planned = { plan: { ...plan, source: file.name }, preview };
  return {
    document: planReply(planned, profile),
    verdict: verdictOf(plan),
    writeFaults: (path) => plan.findings.writeFaults(path),
    async enqueue({ inOrder }) {
      await refuseUnsafeStore(app);
      return importBatch(app, realm, planned, { batchId: null, inOrder });
    },
    close: () => plan.findings.close(),
  };
}

function verdictOf({ blocks, repeats, movedFrom, existing }: Planned['plan']): string {
  const hash = createHash('sha256').update(JSON.stringify(movedFrom.map(({ baseUrl }) => baseUrl)));
  hash.update(standing(existing?.view));
  for (const block of blocks) hash.update(block);
  for (const { batch, rows } of repeats.batches) hash.update(`${batch} ${rows.join()}`);
  return hash.digest('hex');
}

/** The document of `plan --json`, its sums already spelt as digits. */
function planReply(planned: Planned, profile: Parameters<typeof planDocument>[1]): PlannedUpload['document'] {
  const { faultsFile: _, ...document } = planDocument(planned, profile, null);
  const { tokens, payable, books, dayLeft, netEffects } = document;
  return {
    ...document,
    tokens: { credit: `${tokens.credit}`, debit: `${tokens.debit}`, transfer: `${tokens.transfer}` },
    payable: { orders: payable.orders, tokens: String(payable.tokens) },
    books: { ...books, tokens: String(books.tokens) },
    dayLeft: dayLeft === null ? null : String(dayLeft),
    netEffects: netEffects.map(({ member, rows, net }) => ({ member, rows, net: String(net) })),
  };
}

function mended({ taken, refused }: MendedOrders): Mended {
  return { taken: taken.length, refused };
}

async function evidence(app: App, place: OrderPlace, readNow: boolean): Promise<DoubtEvidence> {
  const found = await doubtEvidence(app, place, () => {}, { readNow });
  return {
    sides: found.members.map(({ lastSeen, change: _, ...side }) => ({
      ...side,
      lastSeen: lastSeen?.balance ?? null,
    })),
    later: found.later.map(({ order }) => order),
    key: found.sent?.key ?? null,
    requestId: found.sent?.requestId ?? null,
    sentAt: found.sent === null ? null : Date.parse(found.sent.at),
    decisions: [
      { decision: 'paid', does: 'The order ends paid, with your word as its evidence. Nothing is sent.' },
      {
        decision: 'unpaid',
        does: 'The order ends exhausted, as not applied. Nothing is sent before somebody retries it, which waits until its request can no longer arrive.',
      },
    ],
  };
}

const RESOLVED_AT_ONCE = 50;

async function resolve(
  app: App,
  places: readonly OrderPlace[],
  verdict: Verdict,
  by: { readonly who: string; readonly why: string },
  onProgress: (done: number) => void,
): Promise<Mended> {
  const rulings = await checkRulings(places.map((place) => ({ place, verdict })));
  const refused: { order: string; why: string }[] = [];
  let taken = 0;
  for (let first = 0; first < rulings.length; first += RESOLVED_AT_ONCE) {
    const some = rulings.slice(first, first + RESOLVED_AT_ONCE);
    const { resolved, missed } = await resolveDoubts(app, some, by);
    taken += resolved.length;
    refused.push(...missed);
    onProgress(taken);
  }
  return { taken, refused };
}
