import { backoffMs, LONGEST_PAUSE_MS } from '../core/decide.js';
import type { RealmProfile } from '../core/profile.js';
import type { OrderState } from '../core/states.js';
import {
  type Manifest,
  type OrderEvent,
  type OrderRef,
  type PlannedOrder,
  type RealmLedger,
  reading,
  sending,
  steering,
} from '../ledger/index.js';
import type { ReadTrouble } from './balances.js';
import { type Delivered, type OnDead, OVER, type WorkItem } from './queues.js';
import { haltReason, refusalReason } from './reasons.js';

/**
 * What becomes of an order under read-back whose members cannot be read. Before it is sent nothing is lost: a
 * member that the realm does not know refuses it, and what cannot be read again and again exhausts it. Once it
 * is unknown no read says no: it is looked at again, and at last it is a doubt.
 */
export class Unread {
  constructor(
    private readonly ledger: RealmLedger,
    private readonly profile: RealmProfile,
    private readonly manifestOf: (no: string) => Promise<Pick<Manifest, 'batch' | 'createdAt' | 'sliceMs'>>,
    private readonly onDead: OnDead,
  ) {}

  async beforeSending(ref: OrderRef, row: PlannedOrder, hold: string, why: ReadTrouble): Promise<Delivered> {
    const realmWide = await this.realmWide(why);
    if (realmWide !== null) return realmWide;
    const record = await reading.orders.record({ ledger: this.ledger, no: ref.no }, ref.index);
    const tries = record.tries + (why.kind === 'unread' ? 1 : 0);
    const to =
      why.kind === 'refused'
        ? 'refused'
        : why.kind === 'unread' && tries >= this.profile.attempts.max
          ? 'exhausted'
          : 'planned';
    const dueInMs = this.pauseMs(tries);
    const { batch, createdAt, sliceMs } = await this.manifestOf(ref.no);
    const done = await sending.turnDown(this.ledger, ref, row, {
      ...this.toldOf(why, tries, dueInMs),
      batch,
      move: { from: 'planned', to, hold },
      detail: why.kind === 'unreached' ? null : detailOf(to, why),
      evidence: to === 'refused' ? 'readback' : null,
      slice: Math.max(0, Math.floor((Date.now() - createdAt) / sliceMs)),
    });
    const { state } = done;
    if (state === 'refused' || state === 'exhausted')
      this.onDead({ batch, ref, row, state, why, attempts: record.attempts });
    return state === 'planned' ? { againInMs: dueInMs } : { next: done.next };
  }

  /** `looks`: how many in a row have failed before this one. Answers `doubt` when they were enough. */
  async whileUnknown(
    { ref, row }: Pick<WorkItem, 'ref' | 'row'>,
    { attempt, looks }: { readonly attempt: string; readonly looks: number },
    why: ReadTrouble,
  ): Promise<Delivered | 'doubt'> {
    const realmWide = await this.realmWide(why);
    if (realmWide !== null) return realmWide;
    const counts = why.kind !== 'unreached';
    const tries = looks + (counts ? 1 : 0);
    const dueInMs = this.pauseMs(tries);
    const { batch } = await this.manifestOf(ref.no);
    const { state } = await sending.turnDown(this.ledger, ref, row, {
      ...this.toldOf(why, tries, dueInMs),
      batch,
      move: {
        from: 'unknown',
        to: counts && tries >= this.profile.attempts.max ? 'doubt' : 'unknown',
        attempt,
      },
      detail: null,
      evidence: null,
      slice: 0,
    });
    if (state === 'doubt') return state;
    return state === 'unknown' ? { againInMs: dueInMs } : OVER;
  }

  /** What says nothing of any order: it waits as it is. */
  private async realmWide(why: ReadTrouble): Promise<Delivered | null> {
    if (why.kind === 'slow-down')
      return { againInMs: Math.min(why.retryAfterMs ?? this.pauseMs(0), LONGEST_PAUSE_MS) };
    if (why.kind !== 'halted') return null;
    await steering.realm.halt(this.ledger, haltReason(this.profile, why));
    return OVER;
  }

  private toldOf(why: ReadTrouble, tries: number, dueInMs: number) {
    const { status, code: errorCode } = why;
    const silent = status === null || status >= 500;
    return { tries, status, errorCode, silent, refusalReason: refusalReason(why), dueInMs };
  }

  private pauseMs(tries: number): number {
    return backoffMs(Math.max(0, tries - 1), this.profile.attempts, Math.random);
  }
}

function detailOf(state: OrderState, { code, message }: ReadTrouble): OrderEvent {
  const said = `${message.replace(/\.$/, '')} (read before sending; nothing was sent)`;
  return { event: 'concluded', at: Date.now(), state, by: 'readback', code, message: said };
}
