import { commandAgainst, meaningOf, type Standstill, WHY_NOT } from './may-send.js';
import { REFUSED_MAX } from './overdue.js';
import { CONCLUSIONS, type Presence, presenceOf, type Sign } from './presence.js';
import type { Certainty } from './profile.js';
import type { BatchStanding, Group, RealmStanding, SendingGroup, Waiting } from './waiting.js';
import { spellMoment } from './zones.js';

/**
 * No order stands still in silence. From what the ledger knows of a batch at one moment to the orders of it
 * that neither are final nor move, each under exactly one cause. What moves is not named: sent by a process
 * that lives, for no longer than its time-outs, or planned and being fed at the pace.
 */
export type Cause = Pick<Waiting, 'message' | 'next'> & {
  readonly why: Standstill;
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
      message: WHY_NOT.doubt.says,
      groups: [doubt],
      sinceMs: doubt.sinceMs,
      untilMs: null,
      next: commandAgainst('doubt', batch.batch),
    });
  return causes.filter(({ groups }) => groups.some(({ orders }) => orders > 0));
}

export function waitingOf(cause: Cause): Waiting {
  const { why, message, groups, sinceMs, untilMs, next } = cause;
  return {
    why: WHY_NOT[why].shown,
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
  const [first] = batch.whyNot;
  const idle = nobodyWorks(batch, realm);
  if (first !== undefined) return ofTheBatch(first, batch, realm, idle);
  if (idle !== null)
    return {
      ...ofAll(idle.why, batch, idle.message),
      ...idle,
      sinceMs: Math.max(began(batch), idle.sinceMs),
    };
  if (realm.recovering) return ofAll('merging', batch, WHY_NOT.merging.says);
  if (realm.breaker === null) return null;
  const { sinceMs, haltsAtMs: untilMs } = realm.breaker;
  return { ...ofAll('breaker', batch, WHY_NOT.breaker.says), sinceMs, untilMs };
}

/** A cause that holds back all that is not being sent. */
function ofAll(why: Standstill, batch: BatchStanding, message: string): Cause {
  const { planned, unknown } = batch;
  const next = commandAgainst(why, batch.batch);
  return { why, message, groups: [planned, unknown], sinceMs: began(batch), untilMs: null, next };
}

function began({ createdMs, startedMs }: BatchStanding): number {
  return Math.max(createdMs, startedMs);
}

function ofTheBatch(why: Standstill, batch: BatchStanding, realm: RealmStanding, idle: Idle | null): Cause {
  const { reason, start, stoodMs, planned } = batch;
  const cause = ofAll(why, batch, reason?.message ?? meaningOf(why).says ?? '');
  switch (why) {
    case 'paused':
      return { ...cause, sinceMs: stoodMs || began(batch) };
    case 'after-rollback':
      return { ...cause, sinceMs: Math.max(began(batch), realm.waitsForPersonMs ?? 0), groups: [planned] };
    case 'start-missed':
      return { ...cause, sinceMs: start?.at ?? began(batch) };
    case 'start-time': {
      if (start === null) return cause;
      const alone = idle === null ? '' : ' NO WORKER IS RUNNING yet: one has to be there by then.';
      const message = `It begins at ${spellMoment(start.at, start.zone)}.${alone}`;
      return { ...cause, message, untilMs: start.at, next: idle?.next ?? null };
    }
    case 'disarmed':
    case 'halted':
    case 'batch-halted':
    case 'terms': {
      const message = `${reason?.message ?? ''} ${reason?.next ?? ''}`.trim();
      return { ...cause, message, sinceMs: realm.haltedMs ?? (stoodMs || began(batch)) };
    }
    default:
      return cause;
  }
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
  const why = unworked(batch);
  const message =
    why === 'interrupted'
      ? WHY_NOT.interrupted.says
      : `NO WORKER IS RUNNING for realm ${realm.name}: nothing is sent until one is started.`;
  return { why, message, sinceMs: last?.seenMs ?? realm.leftMs, next: commandAgainst(why, batch.batch) };
}

/** Why a batch stands still that no process works. */
function unworked({ owner }: BatchStanding): 'interrupted' | 'no-worker' {
  return owner === '' ? 'no-worker' : 'interrupted';
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
        next: commandAgainst('missing-session', batch.batch),
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
        next: commandAgainst(unworked(batch), batch.batch),
      };
  }
}

function stuck(sign: Sign, group: SendingGroup): Cause[] {
  if (group.stuck === undefined) return [];
  const { session, sinceMs } = group;
  const { error } = group.stuck;
  const cause = { groups: [group], sinceMs, untilMs: null, session, next: commandAgainst('overdue', '') };
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
  const waits = (why: Standstill, message: string, group: Group, times: Times): Cause => {
    const { sinceMs, untilMs } = times;
    return { why, message, groups: [group], sinceMs, untilMs, next: commandAgainst(why, batch.batch) };
  };
  const heldBack = `Waiting for members that ${held.holder} holds, whose outcome is not known yet.`;
  const causes = [
    resolving(batch),
    waits('early', WHY_NOT.early.says, retry, retry),
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
      waits('in-order', WHY_NOT['in-order'].says, rest, {
        sinceMs: Math.min(...behind.map(({ sinceMs }) => sinceMs)),
        untilMs: untils.some((until) => until === null) ? null : Math.max(...untils.map(Number)),
      }),
    );
  else if (refusedIn(sent) >= REFUSED_MAX)
    causes.push(
      waits('store-refuses-many', WHY_NOT['store-refuses-many'].says, rest, {
        sinceMs: Math.min(...sent.map(({ sinceMs }) => sinceMs)),
        untilMs: null,
      }),
    );
  else if (realm.quiet !== null)
    causes.push(waits('quiet', realm.quiet.words, rest, { ...realm.quiet, sinceMs: realm.nowMs }));
  else if (realm.hold !== null) causes.push(waits('hold', WHY_NOT.hold.says, rest, realm.hold));
  return causes;
}

type Times = Pick<Cause, 'sinceMs' | 'untilMs'>;

function refusedIn(sent: readonly Cause[]): number {
  const refused = sent.filter(({ why }) => why === 'store-refuses').flatMap(({ groups }) => groups);
  return refused.reduce((sum, { orders }) => sum + orders, 0);
}

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
    next: commandAgainst('missing-session', ''),
  };
}

function frozenSaid(sign: Sign): Lost {
  return {
    session: sign.session,
    message: `${named(sign)} lives and has given no sign since ${new Date(sign.seenMs).toISOString()}: it is frozen, or the store does not hear it. The pid is that of its machine or container.`,
    next: `kill -CONT ${sign.pid}`,
  };
}
