import type { OutcomeKind, WriteOutcome } from '../../src/core/classify.js';
import { AlmonerError } from '../../src/core/errors/error.js';
import type { BatchId, MemberId, OrderId } from '../../src/core/ids.js';
import type { Order } from '../../src/core/order.js';
import type { RealmClient } from '../../src/realm/client/client.js';
import type { Fate } from '../support/machines/played-realm.js';
import type { Realm } from './realm.js';

/** The wire: a client that reaches the simulated realm, and a record of which process sent which request. */

export type Sent = {
  readonly intention: string;
  readonly machine: number;
  readonly session: string;
  readonly folder: string;
};

export class Requests {
  readonly sent: Sent[] = [];
  /** Orders with an outcome that a process could not know: only these may end in doubt. */
  readonly ambiguous = new Set<OrderId>();

  /** Orders with a request that has reached the realm, whatever the realm answered. */
  readonly reached = new Set<OrderId>();

  /** Batches by the number of their last delivery: orders that waited return with the number alone. */
  readonly batches = new Map<string, BatchId>();

  constructor(
    readonly realm: Realm,
    /** Finds the row of an order id. */
    private readonly find: (order: OrderId) => { readonly intention: string; readonly order: Order },
    private readonly leaves: (id: OrderId, intention: string, machine: number) => void,
  ) {}

  /** The request arrives or not, as its fate says. Returns what the sender will hear. */
  arrive(
    id: OrderId,
    key: string,
    fate: Fate,
    by: { readonly id: string; readonly folder: string; readonly machine: { readonly number: number } },
  ): OutcomeKind {
    const { intention, order } = this.find(id);
    this.leaves(id, intention, by.machine.number);
    if (fate !== 'not-sent') this.reached.add(id);
    if (fate.startsWith('lost')) this.ambiguous.add(id);
    this.sent.push({ intention, machine: by.machine.number, session: by.id, folder: by.folder });
    return this.realm.receive({ id, order, key }, fate);
  }
}

type Wire = {
  readonly request: (key: string) => Promise<OutcomeKind>;
  /** Null if the read fails. */
  readonly read: (member: MemberId) => Promise<bigint | null>;
};

export function realmClient({ request, read }: Wire): RealmClient {
  const write = async ({ idempotencyKey, mayLeave }: Parameters<RealmClient['changeBalance']>[0]) =>
    outcomeOf(mayLeave() ? await request(idempotencyKey) : 'not-sent');
  const never = () => Promise.reject(new Error('nobody asks the played realm for this'));
  return {
    readMember: async (id) => {
      const balance = await read(id);
      if (balance !== null)
        return {
          ok: true,
          value: { id, balance: String(balance), raw: null },
          facts: { ...NO_FACTS, status: 200 },
        };
      const error = new AlmonerError('ALM_REALM_UNREACHABLE', 'the realm does not answer');
      return {
        ok: false,
        error,
        retryable: true,
        reached: true,
        facts: { ...NO_FACTS, status: 503 },
      };
    },
    readWeb3: never,
    checkWallets: never,
    changeBalance: write,
    transfer: write,
    close: () => Promise.resolve(),
  };
}

const NO_FACTS = { requestId: null, retryAfterMs: null, rate: null, latencyMs: 1 } as const;

const CODES = {
  paid: null,
  refused: 'ALM_REFUSED_BALANCE',
  'not-sent': 'ALM_SEND_NOT_SENT',
  'slow-down': null,
  'realm-halted': 'ALM_SEND_HALTED',
  unknown: 'ALM_SEND_TIMEOUT',
} as const satisfies Record<OutcomeKind, WriteOutcome['code']>;

const STATUSES: Readonly<Partial<Record<OutcomeKind, number>>> = {
  paid: 200,
  refused: 422,
  'slow-down': 429,
};

function outcomeOf(kind: OutcomeKind): WriteOutcome {
  return {
    kind,
    code: CODES[kind],
    message: kind,
    phase: kind === 'not-sent' ? 'connect' : 'done',
    status: STATUSES[kind] ?? null,
    requestId: null,
    retryAfterMs: null,
    rate: null,
    latencyMs: 1,
    body: '',
    balance: null,
  };
}
