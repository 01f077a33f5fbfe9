import { type MemberId, memberId } from '../core/ids.js';
import type { Books } from '../ledger/books.js';
import { askProbe, closeBreaker, haltRealm } from '../ledger/steering.js';
import type { RealmClient } from '../realm/client/client.js';
import type { Pace } from './pace.js';
import { BREAKER_REASON, reasonOf } from './reasons.js';

/**
 * Twenty unknowns with no definite answer between them open the breaker (in the settle script): nothing is
 * sent any more. It is probed with a read, one process at a time, and closes by itself as soon as the realm
 * gives any definite answer; only after fifteen minutes open is the realm halted.
 */
export class Breaker {
  /** After a restart nobody was paid yet: a member that hardly exists will do, a 404 is a definite answer. */
  private lastMember: MemberId = memberId('0');

  constructor(
    private readonly books: Books,
    private readonly client: RealmClient,
    private readonly pace: Pace,
    private readonly probeEveryMs: number,
  ) {}

  /** A probe asks for a member that was just paid: it is known to exist, or at least was believed to. */
  remember(member: MemberId): void {
    this.lastMember = member;
  }

  async tick(): Promise<void> {
    const turn = await askProbe(this.books, this.probeEveryMs, HALT_AFTER_MS, BREAKER_REASON);
    if (turn !== 'probe') return;
    const slot = await this.pace.take();
    const result = await this.client.readMemberOnce(this.lastMember);
    slot?.answered(result.facts);
    const { status } = result.facts;
    if (status === 401 || status === 403) {
      const message = result.ok ? '' : result.error.message;
      await haltRealm(
        this.books,
        reasonOf(status === 401 ? 'ALM_REALM_KEY_REFUSED' : 'ALM_REALM_KEY_OTHER_REALM', message),
      );
    } else if (status !== null && status < 500 && status !== 429) await closeBreaker(this.books);
  }
}

const HALT_AFTER_MS = 15 * 60_000;
