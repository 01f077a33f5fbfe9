import { memoizeLast } from '../../core/memoize-last.js';
import { presenceOf } from '../../core/presence.js';
import { quietUntil } from '../../core/quiet-hours.js';
import { openCount } from '../../core/states.js';
import type { Waiting } from '../../core/waiting.js';
import { type Cause, waitingOf as told, whatWaits } from '../../core/what-waits.js';
import { spellMoment } from '../../core/zones.js';
import { type BatchRef, type BatchView, lists, readBatch, reading } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { byTermsHere, type OwnedBatch, type Profiles } from './batch-realm.js';

type RealmLook = Awaited<ReturnType<typeof reading.standing.realm>>;

/**
 * What of a batch stands still, and for what: the one answer for `status`, a run's progress and end, a
 * worker's log, `doctor`, `recover`, the desk, its metrics and its notices.
 */
export async function waitingOf(ref: BatchRef, config: Profiles, view?: OwnedBatch): Promise<Waiting[]> {
  return (await causesOf(ref, config, view)).map(told);
}

/** Each with the orders it is the cause of, by the profiles of this place. */
export async function causesOf(
  ref: BatchRef,
  config: Profiles,
  known?: OwnedBatch,
  realm?: RealmLook,
): Promise<Cause[]> {
  const view = known ?? (await readBatch(ref));
  if (view === undefined || !isOpen(view)) return [];
  const look = realm ?? (await reading.standing.realm(ref.ledger));
  const shown = await byTermsHere(config, ref, view);
  const standing = await reading.standing.batch(ref, shown, look);
  return whatWaits(standing, { ...look, quiet: quietNow(config, ref, look.nowMs) });
}

/** The quiet hours of the realm's profile here. They may have begun long ago; what is asked is when they end. */
function quietNow(config: Profiles, { ledger }: BatchRef, nowMs: number): RealmLook['quiet'] {
  const { quietHours = null } = config.profiles.find(({ name }) => name === ledger.realm.name) ?? {};
  const untilMs = quietUntil(quietHours, nowMs);
  if (quietHours === null || untilMs === null) return null;
  const { texts, zone } = quietHours;
  const words = `These are quiet hours of the realm (${texts.join(', ')} ${zone}): nothing is sent for the first time before ${spellMoment(untilMs, zone)}.`;
  return { untilMs, words };
}

type OneBatch = { readonly ref: BatchRef; readonly view: OwnedBatch };

/** The same of many, with one look at each realm. */
export function waitingOfAll(batches: readonly OneBatch[], config: Profiles): Promise<Waiting[][]> {
  return new WaitingOfMany(config).of(batches);
}

/**
 * The same for a caller that asks again and again. A view that is the same object has not changed: what waits of it is worked
 * out again when the realm stands otherwise, and now and then, because times pass. Until then the same list of batches gets
 * the same answer, and no batch is looked at.
 */
export class WaitingOfMany {
  private readonly kept = new WeakMap<OwnedBatch, Kept>();
  private readonly realmsOf = memoizeLast(realmsWithOpen);
  private last: {
    readonly batches: readonly OneBatch[];
    readonly key: string;
    readonly untilMs: number;
    readonly waiting: Waiting[][];
  } | null = null;

  constructor(private readonly config: Profiles) {}

  async of(batches: readonly OneBatch[]): Promise<Waiting[][]> {
    const found = await Promise.all(
      this.realmsOf(batches).map(async ([id, ref]) => [id, await lookAt(ref, this.config)] as const),
    );
    const key = found.map(([, look]) => look.key).join('\n');
    const now = performance.now();
    if (this.last?.batches === batches && this.last.key === key && now < this.last.untilMs)
      return this.last.waiting;
    const looks = new Map(found);
    const asked: Promise<void>[] = [];
    const waiting: Waiting[][] = batches.map(() => NOTHING);
    let untilMs = Number.POSITIVE_INFINITY;
    for (const [at, { ref, view }] of batches.entries()) {
      const looking = isOpen(view) ? looks.get(ref.ledger.id) : undefined;
      if (looking === undefined) continue;
      const known = this.kept.get(view);
      const isFresh = known?.key === looking.key && now < known.untilMs;
      if (known !== undefined && (isFresh || hasOnlyDoubts(view))) {
        waiting[at] = known.waiting;
        if (isFresh) untilMs = Math.min(untilMs, known.untilMs);
        continue;
      }
      const asking = causesOf(ref, this.config, view, looking.look).then((causes) => {
        const keptUntilMs = now + keptMs(view, causes, looking.look.nowMs);
        untilMs = Math.min(untilMs, keptUntilMs);
        waiting[at] = this.keepIfOther(view, { key: looking.key, untilMs: keptUntilMs }, causes.map(told));
      });
      asked.push(asking);
    }
    await Promise.all(asked);
    this.last = { batches, key, untilMs, waiting };
    return waiting;
  }

  /** What says the same stays the same list: whoever shows it sees at once that nothing changed. */
  private keepIfOther(view: OwnedBatch, asked: Omit<Kept, 'waiting'>, waiting: Waiting[]): Waiting[] {
    const before = this.kept.get(view)?.waiting;
    const same =
      before !== undefined && JSON.stringify(before) === JSON.stringify(waiting) ? before : waiting;
    this.kept.set(view, { ...asked, waiting: same });
    return same;
  }
}

const NOTHING: Waiting[] = [];

function realmsWithOpen(batches: readonly OneBatch[]): (readonly [string, BatchRef])[] {
  return [
    ...new Map(batches.flatMap(({ ref, view }) => (isOpen(view) ? [[ref.ledger.id, ref] as const] : []))),
  ];
}

async function lookAt(ref: BatchRef, config: Profiles) {
  const look = await reading.standing.realm(ref.ledger);
  const { nowMs, signs, ...rest } = look;
  const presence = signs.map((sign) => [sign.session, presenceOf(sign, nowMs)]);
  return { look, key: JSON.stringify([rest, presence, quietNow(config, ref, nowMs)]) };
}

type Kept = { readonly key: string; readonly untilMs: number; readonly waiting: Waiting[] };

const MOVING_KEPT_MS = 2_000;
const STILL_KEPT_MS = 5 * 60_000;

/** Until the first of its causes passes; what may be overdue soon is not kept for long. */
function keptMs({ state, counts }: BatchView, causes: readonly Cause[], nowMs: number): number {
  const { sending = 0, unknown = 0 } = counts;
  if (state === 'running' || sending + unknown > 0) return MOVING_KEPT_MS;
  const passing = causes.flatMap(({ untilMs }) =>
    untilMs === null || untilMs < nowMs ? [] : untilMs - nowMs,
  );
  return Math.min(STILL_KEPT_MS, ...passing);
}

/** Every batch of the store of which something stands still. */
export async function allWaiting(app: App) {
  const refs = await lists.everyBatchIn(app.scripts, ['open', 'doubts']);
  const seen = (
    await Promise.all(
      refs.map(async (ref) => {
        const view = await readBatch(ref);
        return view === undefined ? [] : [{ ref, view }];
      }),
    )
  ).flat();
  const waiting = await waitingOfAll(seen, app.config);
  return seen.flatMap(({ ref, view }, at) => {
    const list = waiting[at] ?? [];
    return list.length === 0 ? [] : [{ batch: ref.id, rehearsal: view.manifest.rehearsal, waiting: list }];
  });
}

function hasOnlyDoubts({ counts }: BatchView): boolean {
  return openCount(counts) === 0;
}

const LOOK_AGAIN_MS = 1_000;

/** Serves whoever shows a batch many times a second: it is asked anew only now and then. */
export function waitingNow(
  ref: BatchRef,
  config: Profiles,
): (view: OwnedBatch) => Promise<readonly Waiting[]> {
  let last: { readonly atMs: number; readonly waiting: readonly Waiting[] } | null = null;
  return async (view) => {
    const nowMs = performance.now();
    if (last === null || nowMs - last.atMs > LOOK_AGAIN_MS)
      last = { atMs: nowMs, waiting: await waitingOf(ref, config, view) };
    return last.waiting;
  };
}

function isOpen(view: BatchView): boolean {
  return !hasOnlyDoubts(view) || (view.counts.doubt ?? 0) > 0;
}
