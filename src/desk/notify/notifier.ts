import type { Logger } from 'pino';
import { isAlmonerError, messageOf } from '../../core/errors/error.js';
import { ONLY_NEWS } from '../../core/notice-events.js';
import { notes, type ScriptClient, storeNowMs } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import type { RealmCard } from '../api/index.js';
import {
  BEGUN,
  batchSubject,
  isBatch,
  marksOf,
  matterOf,
  newsOf,
  noticeId,
  type Standing,
  storeAway,
  storedTold,
  type Told,
} from '../live/matters.js';
import type { OverviewBoard, Picture } from '../live/overview.js';
import type { Outbox } from './outbox.js';
import type { Notice, Target } from './target.js';

/**
 * Compares the snapshot with the alerts announced before, and puts new ones into the outbox. It reads the ledger and
 * not the queue, so that it does not matter which process on which machine finished the last order.
 */
export type NotifierOptions = {
  readonly board: OverviewBoard;
  readonly scripts: ScriptClient;
  readonly outbox: Outbox;
  /** The targets for a realm; null for alerts that belong to no realm. */
  readonly targets: (realm: string | null) => readonly Target[];
  readonly link: (path: string) => string | null;
  readonly logger: Logger;
  readonly stop: AbortSignal;
  readonly lookEveryMs: number;
  /** The shortest time between two progress messages of one batch. */
  readonly progressEveryMs?: number;
  /** A store that is away longer than this raises an alert. */
  readonly awayMs?: number;
};

/**
 * The stored notes: alerts announced per subject, and the chat message of each batch. They are two hashes, because
 * two parts write them.
 */
export function announcedNotes(scripts: ScriptClient) {
  return {
    subjects: notes.stores.desk(scripts, 'told', storedTold),
    messages: notes.stores.messages(scripts),
  };
}

const PROGRESS_MS = 15_000;
const AWAY_MS = 30_000;
const AWAY_AGAIN_MS = 60_000;
/**
 * Looks overlap by this time, since the clocks of desk and store may differ. Alerts found twice have the same id (see
 * noticeId) and are sent once.
 */
const TWICE_MS = 60_000;
/** How often all announced alerts are read again, because another desk may have added some. */
const COMPARED_AGAIN_MS = 10_000;
/** A batch that ended earlier than this before the first look is no news. */
const NEWS_MS = 10 * 60_000;

/** True where the batch may gain orders again: journals can bring some back while the ledger is closed. */
function mayEndAgain({ event, batchSeen }: Standing, realms: readonly RealmCard[]): boolean {
  if (event !== 'batch.finished' || batchSeen === undefined) return false;
  const { baseUrl, realmId } = batchSeen.ref.ledger.realm;
  const card = realms.find((one) => one.baseUrl === baseUrl && one.realmId === realmId);
  return card?.fence?.armed === false;
}

/** Looks for new alerts and sends messages, each on its own timer. */
export class Notifier {
  private readonly announced: ReturnType<typeof announcedNotes>;
  private readonly progressAt = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private looking: Promise<void> | null = null;
  private sending: Promise<void> | null = null;
  /** Ends up to this time were announced; null before the first look. */
  private announcedUntil: number | null = null;
  private notedAt: number | null = null;
  private lookedAt: {
    readonly seen: Picture['seen'];
    readonly others: string;
    readonly count: number;
    readonly at: number;
  } | null = null;
  private trouble: { readonly since: number; readonly delivered: Set<Target>; triedAt: number } | null = null;

  constructor(private readonly options: NotifierOptions) {
    this.announced = announcedNotes(options.scripts);
    this.timer = setInterval(() => this.tick(), options.lookEveryMs).unref();
  }

  /** Waits for messages under way. The outbox keeps the rest for the next desk. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all([this.looking, this.sending]);
  }

  /** Looking and sending run apart, so that a target that does not answer delays only the sending. */
  private tick(): void {
    this.looking ??= this.round().finally(() => {
      this.looking = null;
    });
    if (this.trouble === null)
      this.sending ??= this.send().finally(() => {
        this.sending = null;
      });
  }

  private async round(): Promise<void> {
    try {
      if (this.announcedUntil === null) await this.continueFromLastLook();
      const picture = await this.options.board.look();
      if (!picture.overview.store.up) return await this.storeIsAway();
      await this.storeIsBack();
      await this.look(picture);
    } catch (error) {
      this.logFailure(error);
      if (isAlmonerError(error) && error.code.startsWith('ALM_STORE_')) await this.storeIsAway();
    }
  }

  /** Continues from the last look of any desk: every batch that ended since then is news. */
  private async continueFromLastLook(): Promise<void> {
    const looked = (await this.announced.subjects.get(BEGUN))?.marks.looked;
    this.announcedUntil = typeof looked === 'number' ? looked : Date.now() - NEWS_MS + TWICE_MS;
    this.options.board.seeEndedSince(this.announcedUntil - TWICE_MS);
  }

  private async send(): Promise<void> {
    try {
      await this.options.outbox.drain();
      await this.showProgress(await this.options.board.look());
    } catch (error) {
      this.logFailure(error);
    }
  }

  private logFailure(error: unknown): void {
    this.options.logger.warn({ message: messageOf(error) }, 'notices could not be looked for or sent');
  }

  private async look({ standings, seen, overview }: Picture): Promise<void> {
    const { scripts, lookEveryMs } = this.options;
    // Only one desk looks at a time. Two would announce the same alert twice.
    if (!(await notes.turns.take(scripts, 'notices', lookEveryMs))) return;
    // The store's clock, because the ends it is compared with use it too.
    const looked = await storeNowMs({ scripts });
    if (this.hasNoNews(seen, standings, looked)) return this.noteLook(looked);
    const known = await this.announced.subjects.all();
    const subjects = new Map<string, Standing[]>([...known.keys()].map((subject) => [subject, []]));
    for (const standing of standings) {
      const { subject } = standing;
      subjects.set(subject, [...(subjects.get(subject) ?? []), standing]);
    }
    const batches = new Set(seen.map(({ view }) => batchSubject(view.manifest)));
    const isMoving = (each: readonly Standing[]) => each.some((one) => mayEndAgain(one, overview.realms));
    const isFirst = !known.has(BEGUN);
    const since = (this.announcedUntil ?? 0) - TWICE_MS;
    subjects.delete(BEGUN);
    for (const [subject, each] of subjects)
      if (isBatch(subject) && !batches.has(subject)) await this.forget(subject);
      else if (!isMoving(each))
        await this.announce(subject, each, known.get(subject) ?? null, (one) => isPast(one, since, isFirst));
    await this.noteLook(looked);
  }

  /** Skips the comparison where the snapshot did not change, but for a time, since another desk may have written. */
  private hasNoNews(seen: Picture['seen'], standings: readonly Standing[], looked: number): boolean {
    const others = JSON.stringify(standings.filter(({ batchSeen }) => batchSeen === undefined));
    const { lookedAt: before } = this;
    const isSame = before?.seen === seen && before.count === standings.length && before.others === others;
    if (isSame && looked - before.at < COMPARED_AGAIN_MS) return true;
    this.lookedAt = { seen, others, count: standings.length, at: looked };
    return false;
  }

  /** Notes the time of this look in the store, so that a later desk continues from there. */
  private async noteLook(looked: number): Promise<void> {
    if (this.notedAt !== null && looked - this.notedAt < TWICE_MS / 4) return;
    await this.announced.subjects.put(BEGUN, { marks: { looked } });
    this.notedAt = looked;
    this.announcedUntil = looked;
    this.options.board.seeEndedSince(looked - TWICE_MS);
  }

  private async forget(subject: string): Promise<void> {
    this.progressAt.delete(subject);
    await this.announced.subjects.forget(subject);
    await this.announced.messages.forget(subject);
  }

  /**
   * Puts alerts into the outbox first and then notes them as announced. A desk killed in between finds the same ids
   * at its next look.
   */
  private async announce(
    subject: string,
    standings: readonly Standing[],
    announced: Told | null,
    isOld: (standing: Standing) => boolean,
  ): Promise<void> {
    const marks = marksOf(standings);
    if (announced !== null && JSON.stringify(announced.marks) === JSON.stringify(marks)) return;
    for (const standing of newsOf(standings, announced))
      if (announced?.marks[standing.event] !== undefined || !isOld(standing)) await this.write(standing);
    await this.announced.subjects.put(subject, { marks });
  }

  private async write(standing: Standing): Promise<void> {
    const { event, subject, realm, batch } = standing;
    const notice = await this.notice(standing);
    for (const target of this.options.targets(realm)) {
      if (!target.wants.includes(event)) continue;
      const id = noticeId(target.name, standing);
      await this.options.outbox.put({
        ...messageFor(target, notice),
        id,
        thread: batch === null ? null : subject,
      });
    }
  }

  private async notice(standing: Standing): Promise<Notice> {
    const { event, batchSeen, batch, rule } = standing;
    const page = event === 'batch.approval' ? 'approvals' : 'batches';
    const general = event === 'realm.after-rollback' ? '/recovery' : rule === null ? '/notices' : '/rules';
    const path = batch === null ? general : `/${page}/${batch}`;
    return {
      at: isoTime(Date.now()),
      matter: matterOf(standing),
      summary: batchSeen === undefined ? null : await this.options.board.summary(batchSeen),
      link: this.options.link(path),
    };
  }

  /** Updates the chat message of each running batch, at most every `progressEveryMs`. */
  private async showProgress({ seen }: Picture): Promise<void> {
    const { targets, progressEveryMs = PROGRESS_MS, stop } = this.options;
    const shown: Promise<void>[] = [];
    for (const batchSeen of seen) {
      const { manifest, state } = batchSeen.view;
      const subject = batchSubject(manifest);
      const now = Date.now();
      const showing = targets(manifest.realm).filter(({ progress }) => progress !== undefined);
      if (state !== 'running' || showing.length === 0) continue;
      if (now - (this.progressAt.get(subject) ?? 0) < progressEveryMs) continue;
      this.progressAt.set(subject, now);
      const { realm, batch } = manifest;
      const about = { event: 'batch.finished', subject, realm, batch, rule: null, mark: '' } as const;
      const notice = await this.notice({ ...about, batchSeen, message: '', next: null, since: isoTime(now) });
      for (const target of showing) shown.push(target.progress?.(notice, stop) ?? Promise.resolve());
    }
    await Promise.all(shown);
  }

  /** There is no outbox while the store is away, so that this alert is sent directly and retried meanwhile. */
  private async storeIsAway(): Promise<void> {
    const now = Date.now();
    this.trouble ??= { since: now, delivered: new Set(), triedAt: 0 };
    const { awayMs = AWAY_MS, targets, stop } = this.options;
    const { since, delivered, triedAt } = this.trouble;
    if (now - since < awayMs || now - triedAt < Math.min(awayMs, AWAY_AGAIN_MS)) return;
    this.trouble.triedAt = now;
    const wanting = targets(null).filter((one) => one.wants.includes('store.away') && !delivered.has(one));
    await Promise.all(
      wanting.map(async (target) => {
        const message = messageFor(target, this.awayNotice(since, null));
        const id = noticeId(target.name, { ...storeAway(since, null), mark: since });
        if ((await target.send({ ...message, id, thread: null }, stop)).ok) delivered.add(target);
      }),
    );
  }

  /** Records the messages that were sent directly, and queues those that were not delivered. */
  private async storeIsBack(): Promise<void> {
    if (this.trouble === null) return;
    const { since, delivered } = this.trouble;
    if (Date.now() - since >= (this.options.awayMs ?? AWAY_MS))
      for (const target of this.options.targets(null)) {
        if (!target.wants.includes('store.away')) continue;
        const id = noticeId(target.name, { ...storeAway(since, null), mark: since });
        const message = messageFor(target, this.awayNotice(since, Date.now()));
        await this.options.outbox.put({ ...message, id, thread: null }, delivered.has(target));
      }
    this.trouble = null;
  }

  private awayNotice(since: number, until: number | null): Notice {
    const matter = storeAway(since, until);
    return { at: isoTime(Date.now()), matter, summary: null, link: this.options.link('/notices') };
  }
}

/**
 * True for an end that was announced already or lies too far back. The notes of a batch are forgotten with it, and a
 * first desk must not announce history.
 */
function isPast({ event, since, subject }: Standing, beforeMs: number, isFirst: boolean): boolean {
  return ONLY_NEWS.includes(event) && (isFirst || isBatch(subject)) && Date.parse(since) < beforeMs;
}

/** The message about an alert, in the target's form. */
export function messageFor(target: Target, notice: Notice) {
  const { event, realm, batch, message } = notice.matter;
  const at = Date.parse(notice.at);
  return { target: target.name, event, realm, batch, message, body: target.body(notice), at };
}
