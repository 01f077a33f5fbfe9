import type { OutcomeKind } from '../../src/core/classify.js';
import type { MemberId } from '../../src/core/ids.js';
import type { RealmProfile } from '../../src/core/profile.js';
import type { JournalLimits } from '../../src/ledger/journal/journal.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { type KnownRealm, openLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { Attempts } from '../../src/ledger/sessions/attempts.js';
import type { Session } from '../../src/ledger/sessions/session.js';
import { RecoveryWatch } from '../../src/ledger/sessions/watch.js';
import { Evidence } from '../../src/queue/balances.js';
import { KnownBatches } from '../../src/queue/batches.js';
import { Breaker } from '../../src/queue/breaker.js';
import { Pace } from '../../src/queue/pace.js';
import { OrderSender } from '../../src/queue/send-order.js';
import { type Gate, PausingPace } from './gate.js';
import type { Machine } from './machine.js';
import { type Requests, realmClient } from './requests.js';
import type { Link, Store } from './store.js';

export type World = {
  readonly store: Store;
  readonly owner: KnownRealm;
  readonly profile: RealmProfile;
  /** The realm's members are 1, 2, … up to this number. */
  readonly members: number;
  readonly limits: JournalLimits;
  /** The delay of the next file; null: it begins at once. */
  readonly takeStart: () => number | null;
  /** By the store's clock. */
  readonly quietUntil: () => number;
  readonly requests: Requests;
  /** Receives the program's log messages. */
  readonly trouble: (message: string) => void;
  /** Receives bugs of the program, which are faults whatever the realm says. */
  readonly broke: (error: Error) => void;
};

/** Builds one process of the program as its worker is built. */
export function wire(
  world: World,
  machine: Machine,
  session: Session,
  {
    link,
    gate,
    ...wire
  }: {
    link: Link;
    gate: Gate;
    request: (key: string) => Promise<OutcomeKind>;
    read: (member: MemberId) => Promise<bigint | null>;
  },
) {
  const { profile } = world;
  const scripts = new ScriptClient(link.redis, Number.POSITIVE_INFINITY, () => {}, { here: machine.here });
  const ledger = openLedger(scripts, world.owner, { ...profile, requirement: profile.approval });
  ledger.mark.quietUntil = world.quietUntil;
  const plans = new PlanReader(ledger);
  const batches = new KnownBatches(ledger, profile);
  const client = realmClient(wire);
  const reads = new Pace(ledger, profile);
  const evidence = new Evidence(ledger, client, reads, profile);
  const pace = new PausingPace(ledger, profile, gate);
  const breaker = new Breaker(ledger, client, reads, {
    probeEveryMs: profile.attempts.backoffMs,
    haltAfterMs: 15 * 60_000,
  });
  const context = { ledger, plans, termsOf: (no: string) => batches.termsOf(no) };
  const attempts: Attempts = new Attempts({
    ledger,
    journal: session.journal,
    session: session.id,
    context,
    onFenced: (why) => recovery.fenced(why),
  });
  const recovery: RecoveryWatch = new RecoveryWatch({
    ledger,
    context,
    self: { session, attempts },
    patienceMs: 0,
    onTrouble: world.trouble,
    // The session was given up while the process lived, so the process ends.
    onLost: () => {
      link.dead = true;
    },
    forget: () => {
      plans.clear();
      batches.clear();
    },
    retakeRun: () => Promise.resolve(),
    onDoubt: (ref, order, currency) => evidence.ofDoubt(ref, order, currency),
    onRecovered: () => Promise.resolve(),
  });
  const runner = new OrderSender({
    ledger,
    profile,
    client,
    pace,
    plans,
    attempts,
    owner: '',
    batches,
    evidence,
    stopping: () => false,
    onTrouble: world.trouble,
    onDead: () => {},
    onSettled: () => {},
  });
  return { ledger, pace, breaker, recovery, runner };
}
