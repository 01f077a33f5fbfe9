import { REFUSED_MAX } from './overdue.js';
import { CONCLUSIONS, type Presence, presenceOf, type Sign } from './presence.js';
import type { Certainty } from './profile.js';
import type { BatchStanding, Group, RealmStanding, SendingGroup, Waiting, WaitingWhy } from './waiting.js';
import { spellMoment } from './zones.js';

/**
 * No order stands still in silence. From what the ledger knows of a batch at one moment to the orders of it
 * that neither are final nor move, each under exactly one cause. What moves is not named: sent by a process
 * that lives, for no longer than its time-outs, or planned and being fed at the pace.
 */
export type Cause = Pick<Waiting, 'why' | 'message' | 'next'> & {
  readonly groups: readonly Group[];
  readonly sinceMs: number;
  readonly untilMs: number | null;
  readonly session?: string;
};

export function whatWaits(batch: BatchStanding, realm: RealmStanding): Cause[] {
  const sent = batch.sending.flatMap((group) => notSending(batch, realm, group));
  const rest = standstill(batch, realm);
  const causes =
    rest === null
      ? [...sent, ...onTheirWay(batch, realm, sent)]
      : [rest, ...sent, ...(rest.why === 'after-rollback' ? [resolved(batch, realm)] : [])];
  const { doubt } = batch;
  if (doubt.orders > 0)
    causes.push({
      why: 'doubt',
      message: 'Paid or not, nobody can prove it; an operator decides.',
      groups: [doubt],
      sinceMs: doubt.sinceMs,
      untilMs: null,
      next: `almoner doubt list --batch ${batch.batch}`,
    });
  return causes.filter(({ groups }) => groups.some(({ orders }) => orders > 0));
}

export function waitingOf(cause: Cause): Waiting {
  const { why, message, groups, sinceMs, untilMs, next } = cause;
  return {
    why,
    message,
    orders: groups.reduce((sum, { orders }) => sum + orders, 0),
    tokens: String(groups.reduce((sum, { tokens }) => sum + tokens, 0n)),
    since: new Date(sinceMs).toISOString(),
    until: untilMs === null ? null : new Date(untilMs).toISOString(),
    next,
    session: cause.session ?? null,
  };
}

/** What holds back everything that is not being sent, the cause that a person meets first before the others. */
function standstill(batch: BatchStanding, realm: RealmStanding): Cause | null {
  const { state, reason } = batch;
  const began = Math.max(batch.createdMs, batch.startedMs);
  const all = causeOfAll(batch);
  const resume = `almoner resume ${batch.batch}`;
  if (state === 'paused')
    return all('paused', reason?.message ?? 'The batch is paused.', {
      sinceMs: batch.stoodMs || began,
      next: resume,
    });
  if (state === 'halted') return haltedCause(batch, realm, all);
  if (batch.closed === 'approval')
    return all('approval', reason?.message ?? '', { next: `almoner approve ${batch.batch}` });
  if (batch.closed === 'start-missed')
    return all('start-missed', reason?.message ?? '', {
      sinceMs: batch.start?.at ?? began,
      next: `${resume} --now`,
    });
  const idle = nobodyWorks(batch, realm);
  if (batch.closed === 'start-time' && batch.start !== null) {
    const { at, zone } = batch.start;
    const alone = idle === null ? '' : ' NO WORKER IS RUNNING yet: one has to be there by then.';
    const next = idle?.next ?? null;
    return all('start-time', `It begins at ${spellMoment(at, zone)}.${alone}`, { untilMs: at, next });
  }
  if (idle !== null) return all(idle.why, idle.message, { ...idle, sinceMs: Math.max(began, idle.sinceMs) });
  if (realm.recovering)
    return all(
      'disarmed',
      'The store was restarted, and the journals are being merged before anything is sent.',
    );
  if (realm.breaker !== null)
    return all(
      'breaker',
      'The realm cannot be reached or gives no definite answer. It is asked again and again with one read, and goes on by itself when it is back.',
      { sinceMs: realm.breaker.sinceMs, untilMs: realm.breaker.haltsAtMs },
    );
  return null;
}

/** Makes a cause that holds back all that is not being sent. */
function causeOfAll({ createdMs, startedMs, planned, unknown }: BatchStanding) {
  return (
    why: WaitingWhy,
    message: string,
    more: Partial<Pick<Cause, 'sinceMs' | 'untilMs' | 'next' | 'session'>> = {},
  ): Cause => ({
    sinceMs: Math.max(createdMs, startedMs),
    untilMs: null,
    next: null,
    ...more,
    why,
    message,
    groups: [planned, unknown],
  });
}

function haltedCause(batch: BatchStanding, realm: RealmStanding, all: ReturnType<typeof causeOfAll>): Cause {
  const { reason, planned } = batch;
  const began = Math.max(batch.createdMs, batch.startedMs);
  if (reason?.code === 'ALM_LEDGER_AFTER_ROLLBACK')
    return {
      ...all('after-rollback', reason.message, {
        sinceMs: Math.max(began, realm.waitsForPersonMs ?? 0),
        next: 'almoner resume --after-rollback',
      }),
      groups: [planned],
    };
  const disarmed = reason?.code.startsWith('ALM_LEDGER_') ?? false;
  return all(disarmed ? 'disarmed' : 'halted', `${reason?.message ?? ''} ${reason?.next ?? ''}`.trim(), {
    sinceMs: realm.haltedMs ?? (batch.stoodMs || began),
    next: disarmed ? 'almoner recover' : `almoner resume ${batch.batch}`,
  });
}

type Idle = Pick<Cause, 'why' | 'message' | 'sinceMs' | 'next' | 'session'>;

function nobodyWorks(batch: BatchStanding, realm: RealmStanding): Idle | null {
  const isRun = batch.owner !== '';
  const crew = realm.signs.filter((sign) => (isRun ? sign.session === batch.owner : sign.kind === 'worker'));
  const presences = crew.map((sign) => presenceOf(sign, realm.nowMs));
  if (presences.includes('at-work')) return null;
  const last = crew.toSorted((a, b) => b.seenMs - a.seenMs)[0];
  const frozen = crew[presences.indexOf('frozen')];
  if (frozen !== undefined) return { why: 'frozen-session', sinceMs: frozen.seenMs, ...frozenSaid(frozen) };
  if (isRun && last !== undefined && presences.includes('silent'))
    return { why: 'missing-session', sinceMs: last.seenMs, ...missingSaid(last) };
  const sinceMs = last?.seenMs ?? realm.leftMs;
  const message = isRun
    ? 'The process that was working this run is gone. Nothing is being sent.'
    : `NO WORKER IS RUNNING for realm ${realm.name}: nothing is sent until one is started.`;
  return { why: 'no-worker', message, sinceMs, next: workedBy(batch) };
}

/** The command that gets a batch on. */
function workedBy({ owner, batch }: BatchStanding): string {
  return owner === '' ? 'almoner worker' : `almoner resume ${batch}`;
}

/** Orders that are `sending`, and whose session cannot be heard of or has had them for too long. */
function notSending(batch: BatchStanding, realm: RealmStanding, group: SendingGroup): Cause[] {
  const { session } = group;
  const sign = realm.signs.find((one) => one.session === session);
  const cause = { groups: [group], untilMs: null, sinceMs: sign?.seenMs ?? group.sinceMs, session };
  if (sign === undefined)
    return [
      {
        ...cause,
        why: 'missing-session',
        message: `Session ${session}, which was sending, is not registered any more.`,
        next: 'almoner recover',
      },
    ];
  const presence = presenceOf(sign, realm.nowMs);
  if (presence === 'at-work') return stuck(sign, group);
  return [{ ...cause, why: CONCLUSIONS[presence].named, ...lostSaid(presence, sign, batch) }];
}

function lostSaid(presence: Exclude<Presence, 'at-work'>, sign: Sign, batch: BatchStanding): Lost {
  switch (presence) {
    case 'silent':
      return missingSaid(sign);
    case 'frozen':
      return frozenSaid(sign);
    case 'dead':
      return {
        session: sign.session,
        message: `${named(sign)} is dead, and nobody has taken over what it was sending.`,
        next: workedBy(batch),
      };
  }
}

function stuck(sign: Sign, group: SendingGroup): Cause[] {
  if (group.stuck === undefined) return [];
  const { session, sinceMs } = group;
  const { error } = group.stuck;
  const cause = { groups: [group], sinceMs, untilMs: null, session, next: 'almoner recover' };
  if (error === null) return [{ ...cause, why: 'overdue', message: `${named(sign)} lives and ${OVERDUE}` }];
  return [{ ...cause, why: 'store-refuses', message: `${named(sign)} ${refusedSaid(error)}` }];
}

const OVERDUE =
  'has had these orders in `sending` for longer than its time-outs. It looks for such orders itself every half minute and settles them by its journal; its log says what keeps it from that. Nothing is sent again meanwhile.';

function refusedSaid(error: string): string {
  return `knows what became of these orders, its journal keeps it, and the store refuses to take it: ${error.replace(/\.$/, '')}. The session offers it again every few seconds; nothing is sent again.`;
}

/** Orders whose answer was lost, in a batch of which nothing is sent for the first time. */
function resolved(batch: BatchStanding, realm: RealmStanding): Cause {
  const idle = nobodyWorks(batch, realm);
  return idle === null ? resolving(batch) : { untilMs: null, ...idle, groups: [batch.unknown] };
}

/** Orders whose answer was lost, and that are being looked after. */
function resolving({ unknown, certainty }: BatchStanding): Cause {
  const { sinceMs, untilMs } = unknown;
  return {
    why: 'settle-time',
    message: RESOLVED[certainty],
    groups: [unknown],
    sinceMs,
    untilMs,
    next: null,
  };
}

/** The orders of a batch that goes on which wait for a time, or for another order. */
function onTheirWay(batch: BatchStanding, realm: RealmStanding, sent: readonly Cause[]): Cause[] {
  const { retry, held, planned } = batch;
  const waits = (why: WaitingWhy, message: string, group: Group, times: Times): Cause => {
    const { sinceMs, untilMs } = times;
    return { why, message, groups: [group], sinceMs, untilMs, next: null };
  };
  const heldBack = `Waiting for members that ${held.holder} holds, whose outcome is not known yet.`;
  const causes = [
    resolving(batch),
    waits('retry', 'The last attempt came to nothing; the next one is then.', retry, retry),
    waits('member-held', heldBack, held, held),
  ];
  const behind = [...sent, ...causes].filter(({ groups }) => groups.some(({ orders }) => orders > 0));
  const rest: Group = {
    ...planned,
    orders: Math.max(0, planned.orders - retry.orders - held.orders),
    tokens: planned.tokens - retry.tokens - held.tokens,
  };
  const untils = behind.map(({ untilMs }) => untilMs);
  if (batch.inOrder && behind.length > 0)
    causes.push(
      waits('in-order', IN_ORDER, rest, {
        sinceMs: Math.min(...behind.map(({ sinceMs }) => sinceMs)),
        untilMs: untils.some((until) => until === null) ? null : Math.max(...untils.map(Number)),
      }),
    );
  else if (refusedIn(sent) >= REFUSED_MAX)
    causes.push({
      ...waits('store-refuses', TOO_MANY_REFUSED, rest, {
        sinceMs: Math.min(...sent.map(({ sinceMs }) => sinceMs)),
        untilMs: null,
      }),
      next: 'almoner recover',
    });
  else if (realm.quiet !== null)
    causes.push(waits('quiet', realm.quiet.words, rest, { ...realm.quiet, sinceMs: realm.nowMs }));
  else if (realm.hold !== null) causes.push(waits('hold', HOLD, rest, realm.hold));
  return causes;
}

type Times = Pick<Cause, 'sinceMs' | 'untilMs'>;

function refusedIn(sent: readonly Cause[]): number {
  const refused = sent.filter(({ why }) => why === 'store-refuses').flatMap(({ groups }) => groups);
  return refused.reduce((sum, { orders }) => sum + orders, 0);
}

const TOO_MANY_REFUSED =
  'The store refuses the results of so many orders that nothing more is sent until it takes them.';

const IN_ORDER = 'Orders go strictly one after the other (--in-order), and the one before is not settled.';
const HOLD = 'The realm asked to wait (Retry-After), and everybody waits until then.';
const RESOLVED: Readonly<Record<Certainty, string>> = {
  idempotent: 'The answer was lost; the same key is sent again.',
  readback:
    'The answer was lost; the members are read again, and unmoved proves nothing before the settle time is over.',
  manual: 'The answer was lost, and this realm gives no way to prove it: it becomes a doubt.',
};

function named({ session, kind, pid, machine }: Sign): string {
  return `Session ${session} (${kind}, pid ${pid}, machine ${machine})`;
}

type Lost = Pick<Cause, 'message' | 'next'> & { readonly session: string };

function missingSaid(sign: Sign): Lost {
  return {
    session: sign.session,
    message: `${named(sign)} was last seen at ${new Date(sign.seenMs).toISOString()}, and whether it lives cannot be told from here. Start almoner there again. If its machine is lost with its disk, it can be given up: \`almoner recover\` says how, and what that makes a doubt.`,
    next: 'almoner recover',
  };
}

function frozenSaid(sign: Sign): Lost {
  return {
    session: sign.session,
    message: `${named(sign)} lives and has given no sign since ${new Date(sign.seenMs).toISOString()}: it is frozen, or the store does not hear it. The pid is that of its machine or container.`,
    next: `kill -CONT ${sign.pid}`,
  };
}
