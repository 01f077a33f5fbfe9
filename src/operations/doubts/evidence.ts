import { AlmonerError } from '../../core/errors/error.js';
import { effectsOf, type Order } from '../../core/order.js';
import { type OrderEvent, type RowView, readBatch, reading } from '../../ledger/index.js';
import { Evidence } from '../../queue/balances.js';
import { Pace } from '../../queue/pace.js';
import type { App } from '../../runtime/app.js';
import { isoTime, utcMinute } from '../../words/spelling.js';
import { profileOfBatch } from '../batches/batch-realm.js';
import { contextOf, idOf, type OrderPlace } from '../orders/find-orders.js';
import { memberHistory, type Scanned } from '../orders/member-history.js';
import { orderRow } from '../orders/order-row.js';
import type { HistoryEntry } from '../views/order.js';

export type DoubtEvidence = Awaited<ReturnType<typeof doubtEvidence>>;

type Touching = HistoryEntry & { readonly touched: string };

/** Everything that helps a person to say whether a doubtful order was applied. */
export async function doubtEvidence(
  app: App,
  place: OrderPlace,
  onScanned: (scanned: Scanned) => void,
  options: { readonly readNow?: boolean } = {},
) {
  const { ref, index } = place;
  const context = await contextOf(ref);
  const [row, record, history, planned] = await Promise.all([
    reading.orders.row(context, index),
    reading.orders.record(ref, index),
    reading.orders.details(ref, index),
    context.plans.row(ref.no, index),
  ]);
  const named = reading.evidence.namedBy(record);
  const { order } = planned;
  if ((row.state !== 'doubt' && row.state !== 'unknown') || order === null)
    throw new AlmonerError(
      'ALM_BATCH_CANNOT',
      `Order ${idOf(place)} is ${row.state}, not in doubt: there is nothing to decide.`,
      { next: `See what it met with \`almoner dead show ${idOf(place)}\`.` },
    );
  const manifest = (await readBatch(ref))?.manifest;
  const sentAt = row.sentAt ?? manifest?.createdAt ?? 0;
  const currency = manifest?.currency ?? null;
  const others = await otherOrders(app, place, { order, currency }, onScanned);
  const { now, notRead } =
    options.readNow === false
      ? { now: null, notRead: 'it was not asked for' }
      : await readNow(app, place, order, currency);
  const members = effectsOf(order).map(({ member, delta }) => {
    const role = member === order.member ? ('member' as const) : ('recipient' as const);
    const before = reading.evidence.balancesSeen(history, 'before', named);
    const lastSeen = lastBalance(before, others, { member, role }, sentAt);
    return {
      member,
      role,
      change: `${delta > 0n ? '+' : ''}${delta}`,
      lastSeen,
      ifPaid: lastSeen === null ? null : String(BigInt(lastSeen.balance) + delta),
      ifUnpaid: lastSeen?.balance ?? null,
      whenDoubtArose: reading.evidence.balancesSeen(history, 'doubt', named)?.balances[role] ?? null,
      now: now?.[role] ?? null,
    };
  });
  return {
    ...orderRow(ref, row),
    currency,
    /** What to look for upstream. */
    sent: sentOf(history, named, sentAt),
    members,
    /** Why the balance now is not known; null where it was read. */
    notRead,
    later: laterOrders(others, sentAt),
    looksLike: verdictOf(members),
    history,
  };
}

/** What its own history tells of the balances; what answers to other orders said takes a search. */
export function sidesSeen(order: Order | null, traces: NonNullable<RowView['traces']> | null) {
  const sides = (order === null ? [] : effectsOf(order)).map(({ member, delta }) => {
    const role = member === order?.member ? 'member' : 'recipient';
    const before = traces?.before?.[role] ?? null;
    const ifPaid = before === null ? null : String(BigInt(before) + delta);
    return { member, before, ifPaid, inDoubt: traces?.inDoubt?.[role] ?? null };
  });
  const stories = sides.map(({ before, ifPaid, inDoubt }) => {
    return { ifPaid, ifUnpaid: before, whenDoubtArose: inDoubt };
  });
  return { sides, looksLike: verdictOf(stories) };
}

/** Orders that moved the same members later, or in the same moment, or may yet; one on both members is one order. */
export function laterOrders<T extends Pick<Touching, 'at' | 'state' | 'order'>>(
  others: readonly T[],
  sentAt: number,
): T[] {
  const [open, moved] = [new Set(['planned', 'sending', 'unknown']), new Set(['paid', 'doubt'])];
  const isLater = ({ at, state }: T) => open.has(state) || (moved.has(state) && at >= isoTime(sentAt));
  return [...new Map(others.filter(isLater).map((one) => [one.order, one])).values()];
}

/** All other orders of the realm that touch the same balances. */
async function otherOrders(
  app: App,
  place: OrderPlace,
  { order, currency }: { readonly order: Order; readonly currency: string | null },
  onScanned: (scanned: Scanned) => void,
): Promise<Touching[]> {
  const found: Touching[] = [];
  for (const { member } of effectsOf(order)) {
    const ledger = place.ref.ledger.id;
    const entries = await memberHistory(app.scripts, member, { ledger, since: null, onScanned });
    for (const entry of entries)
      if (entry.order !== idOf(place) && entry.currency === currency)
        found.push({ ...entry, touched: member });
  }
  return found.sort((a, b) => a.at.localeCompare(b.at));
}

/** One paced read of each member, where the realm is configured here and may be asked. */
async function readNow(
  app: App,
  { ref }: OrderPlace,
  order: Order,
  currency: string | null,
): Promise<{ now: reading.Balances | null; notRead: string | null }> {
  const profile = profileOfBatch(app.config, ref);
  if (profile === undefined) return { now: null, notRead: 'the realm is not configured here' };
  if ((await reading.realmState.read(ref.ledger)).halt !== null)
    return { now: null, notRead: 'the realm is halted' };
  const realm = await app.realm(profile);
  const pace = new Pace(ref.ledger, profile);
  const now = await new Evidence(ref.ledger, realm.client, pace, profile).shown(order, currency);
  return { now, notRead: now.member === null ? 'the realm did not give the balance' : null };
}

/** The last balance seen before the order was sent, and where it was seen. */
function lastBalance(
  before: ReturnType<typeof reading.evidence.balancesSeen>,
  others: readonly Touching[],
  { member, role }: { readonly member: string; readonly role: 'member' | 'recipient' },
  sentAt: number,
) {
  const read = before?.balances[role] ?? null;
  if (before !== null && read !== null)
    return { balance: read, at: isoTime(before.at), from: 'read before sending' };
  const until = isoTime(sentAt);
  const paid = others.findLast(
    ({ touched, balanceAfter, at }) => touched === member && balanceAfter !== null && at <= until,
  );
  if (paid === undefined || paid.balanceAfter === null) return null;
  return { balance: paid.balanceAfter, at: paid.at, from: `answer to order ${paid.order}` };
}

function sentOf(
  history: readonly OrderEvent[],
  named: ReturnType<typeof reading.evidence.namedBy>,
  recordedAt: number,
) {
  const last = reading.evidence.lastSent(history, named);
  if (last === null) return null;
  const answer =
    last.event === 'attempt'
      ? { requestId: last.requestId, status: last.status, phase: last.phase, body: last.body }
      : { requestId: null, status: null, phase: null, body: null };
  const { key, message } = last;
  const at = reading.evidence.sentTime(last) ?? recordedAt;
  return { at: isoTime(at), minute: utcMinute(at), key, message, ...answer };
}

/** Only a hint: it holds where nothing else moved the members. All of them must tell the same story. */
function verdictOf(
  members: readonly Readonly<Record<'ifPaid' | 'ifUnpaid' | 'whenDoubtArose', string | null>>[],
): 'paid' | 'unpaid' | null {
  const stories = members.map(({ ifPaid, ifUnpaid, whenDoubtArose }) => {
    if (whenDoubtArose === null || ifPaid === null) return null;
    if (whenDoubtArose === ifPaid) return 'paid';
    return whenDoubtArose === ifUnpaid ? 'unpaid' : null;
  });
  const [first = null, ...rest] = stories;
  return rest.every((story) => story === first) ? first : null;
}
