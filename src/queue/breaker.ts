import { REALM_HALTED } from '../core/classify.js';
import { type MemberId, memberId } from '../core/ids.js';
import { type RealmLedger, steering } from '../ledger/index.js';
import type { RealmClient } from '../realm/client/client.js';
import type { Pace } from './pace.js';
import { breakerReason, reasonOf } from './reasons.js';

/**
 * Twenty unknowns, or connections that do not come about, with no definite answer between them open the
 * breaker (in the settle script): nothing is sent any more. It is probed with a read, one process at a time,
 * and closes by itself as soon as the realm gives any definite answer; only when it was open for a quarter
 * of an hour (`limits.breakerHaltMs`) is the realm halted. What fell due meanwhile goes on when it closes.
 */
export class Breaker {
  /** After a restart nobody was paid yet: a member that hardly exists will do, a 404 is a definite answer. */
  private lastMember: MemberId = memberId('0');

  constructor(
    private readonly ledger: RealmLedger,
    private readonly client: RealmClient,
    private readonly pace: Pace,
    private readonly limits: { readonly probeEveryMs: number; readonly haltAfterMs: number },
  ) {}

  /** A probe asks for a member that was just paid: it is known to exist, or at least was believed to. */
  remember(member: MemberId): void {
    this.lastMember = member;
  }

  async tick(): Promise<void> {
    const { probeEveryMs, haltAfterMs } = this.limits;
    const turn = await steering.realm.askProbe(
      this.ledger,
      probeEveryMs,
      haltAfterMs,
      breakerReason(haltAfterMs),
    );
    if (turn !== 'probe') return;
    const slot = await this.pace.take();
    const result = await this.client.readMember(this.lastMember);
    slot?.answered(result.facts);
    const { status } = result.facts;
    const halting = status === null ? undefined : REALM_HALTED.get(status);
    if (halting !== undefined && !result.ok)
      await steering.realm.halt(this.ledger, reasonOf(halting, result.error.message));
    else if (status !== null && status < 500 && status !== 429)
      await steering.realm.closeBreaker(this.ledger);
  }
}
