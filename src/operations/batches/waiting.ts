import { presenceOf } from '../../core/presence.js';
import { quietUntil } from '../../core/quiet-hours.js';
import { openCount } from '../../core/states.js';
import type { Waiting } from '../../core/waiting.js';
import { type Cause, waitingOf as told, whatWaits } from '../../core/what-waits.js';
import { spellMoment } from '../../core/zones.js';
import {
  type BatchRef,
  type BatchView,
  lists,
  type RealmLook,
  readBatch,
  readBatchStanding,
  readRealmStanding,
} from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { haltedHere, type OwnedBatch, type Profiles } from './batch-realm.js';

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
  const look = realm ?? (await readRealmStanding(ref.ledger));
  const reason = await haltedHere(config, ref, view);
  const shown: OwnedBatch = reason === null ? view : { ...view, state: 'halted', reason };
  const standing = await readBatchStanding(ref, shown, look);
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

/**
 * The same of many, with one look at each realm. A view that is the same object has not changed: what waits of it is worked
 * out again when the realm stands otherwise, and now and then, because times pass.
 */
export async function waitingOfAll(
  batches: readonly { readonly ref: BatchRef; readonly view: OwnedBatch }[],
  config: Profiles,
): Promise<Waiting[][]> {
  const waitsFor = new Map(
    batches.flatMap(({ ref, view }) => (isOpen(view) ? [[ref.ledger.id, ref] as const] : [])),
  );
  const found = await Promise.all(
    [...waitsFor].map(async ([id, ref]) => [id, await lookAt(ref, config)] as const),
  );
  const looks = new Map(found);
  const now = performance.now();
  const all: Waiting[][] = [];
  const asked: Promise<void>[] = [];
  for (const [at, { ref, view }] of batches.entries()) {
    const looking = isOpen(view) ? looks.get(ref.ledger.id) : undefined;
    all[at] = NOTHING;
    if (looking === undefined) continue;
    const { look, key } = looking;
    const known = kept.get(view);
    all[at] = known?.waiting ?? NOTHING;
    const isFresh = known?.key === key && now < known.untilMs;
    if (known !== undefined && (isFresh || hasOnlyDoubts(view))) continue;
    const asking = causesOf(ref, config, view, look).then((causes) => {
      all[at] = keepIfOther(view, { key, untilMs: now + keptMs(view, causes, look.nowMs) }, causes.map(told));
    });
    asked.push(asking);
  }
  await Promise.all(asked);
  return all;
}

const NOTHING: Waiting[] = [];

/** What says the same stays the same list: whoever shows it sees at once that nothing changed. */
function keepIfOther(view: OwnedBatch, asked: Omit<Kept, 'waiting'>, waiting: Waiting[]): Waiting[] {
  const before = kept.get(view)?.waiting;
  const same = before !== undefined && JSON.stringify(before) === JSON.stringify(waiting) ? before : waiting;
  kept.set(view, { ...asked, waiting: same });
  return same;
}

async function lookAt(ref: BatchRef, config: Profiles) {
  const look = await readRealmStanding(ref.ledger);
  const { nowMs, signs, ...rest } = look;
  const presence = signs.map((sign) => [sign.session, presenceOf(sign, nowMs)]);
  return { look, key: JSON.stringify([rest, presence, quietNow(config, ref, nowMs)]) };
}

type Kept = { readonly key: string; readonly untilMs: number; readonly waiting: Waiting[] };
const kept = new WeakMap<OwnedBatch, Kept>();

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
