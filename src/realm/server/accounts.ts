import type { Redis } from 'ioredis';
import { parse } from 'lossless-json';
import { z } from 'zod';
import type { Rate } from '../../core/profile.js';
import { comparableWallet } from '../wallet.js';
import type { Admission } from './answer.js';
import { ADMIT, MOVE_POINTS, onStore, READ_MEMBER, realmKeys, runScript } from './store.js';

/** How many answers and applied changes the service keeps. */

const RETENTION = {
  /** Answers are kept at least this long and at most twice as long; see lua/includes/answers.lua. */
  answersKeptMs: 48 * 60 * 60 * 1000,
  /** The limit for each of the two generations. */
  answersMax: 1_000_000,
  appliedMax: 2_000_000,
};

/** One balance change or transfer. */
export type Change = {
  readonly member: string;
  /** The receiving member of a transfer; null for other changes. */
  readonly recipient: string | null;
  readonly tokens: number;
  /** Null: the realm's own currency. */
  readonly currency: string | null;
  readonly idempotencyKey: string | null;
  readonly requestId: string;
};

const facts = z.record(z.string(), z.unknown());
const storedProfile = z.object({ wallets: z.array(z.string()), web3: facts, attributes: facts });
const NOTHING_SAID = '{"wallets":[],"web3":{},"attributes":{}}';
const points = z
  .string()
  .regex(/^-?\d+$/)
  .transform(Number);

/** The reply of the move script. Only a transfer returns the recipient's balance. */
const moveReply = z.union([
  z
    .tuple([z.enum(['applied', 'replayed']), points, points.or(z.literal(''))])
    .transform(([kind, balance, received]) => ({
      kind,
      balance,
      recipientBalance: received === '' ? null : received,
    })),
  z
    .tuple([z.enum(['too-small', 'out-of-range']), points])
    .transform(([kind, balance]) => ({ kind, balance })),
  z.tuple([z.enum(['conflict', 'unknown-member', 'unknown-recipient'])]).transform(([kind]) => ({ kind })),
  z.tuple([z.literal('unknown-currency')], z.string()).transform(([kind, ...others]) => ({ kind, others })),
]);

const memberReply = z.tuple([z.string().nullable(), z.string().nullable(), z.array(z.string())]);
const admitReply = z.tuple([z.number(), z.number(), z.number()]);

/** Turns the script's flat list (currency, balance, currency, balance …) into an object. */
function balancesOf(others: readonly string[]): Record<string, number> {
  const found = new Map<string, number>();
  for (let at = 0; at < others.length; at += 2) found.set(others[at] ?? '', Number(others[at + 1]));
  return Object.fromEntries(found);
}

export type RealmAccounts = ReturnType<typeof openAccounts>;

/**
 * Opens the balances of the realms. Every change is one script: balance, stored answer and line in the applied log
 * change together. A service that is killed at any moment leaves a consistent ledger.
 */
export function openAccounts(redis: Redis, retention: Partial<typeof RETENTION> = {}) {
  const { answersKeptMs, answersMax, appliedMax } = { ...RETENTION, ...retention };
  return {
    /** Undefined if the realm has no such member. */
    async member(realmId: string, member: string) {
      const { balances, profiles, currencies } = realmKeys(realmId);
      const keys = [balances, profiles, currencies];
      const reply = await onStore(redis, () => runScript(redis, READ_MEMBER, keys, [member]));
      const [balance, profile, others] = memberReply.parse(reply);
      if (balance === null || profile === null) return undefined;
      const [createdAt = ''] = profile.split(':', 1);
      return {
        balance: Number(balance),
        others: balancesOf(others),
        createdAtMs: Number(createdAt),
        ...storedProfile.parse(parse(profile.slice(createdAt.length + 1) || NOTHING_SAID)),
      };
    },

    /** For each wallet, in the given order: whether it belongs to a member. */
    async walletsKnown(realmId: string, wallets: readonly string[]): Promise<boolean[]> {
      if (wallets.length === 0) return [];
      const fields = wallets.map(comparableWallet);
      const owners = await onStore(redis, () => redis.hmget(realmKeys(realmId).wallets, ...fields));
      return owners.map((owner) => owner !== null);
    },

    /** Adds points, subtracts them if `tokens` is negative, or moves them to the recipient. */
    async change(realmId: string, change: Change) {
      const { member, recipient, tokens, currency, idempotencyKey, requestId } = change;
      const { balances, answers, answersBefore, applied, profiles, currencies } = realmKeys(realmId);
      const keys = [balances, answers, answersBefore, applied, profiles, currencies];
      const kept = [answersKeptMs, answersMax, appliedMax];
      const args = [
        member,
        recipient ?? '',
        tokens,
        idempotencyKey ?? '',
        requestId,
        ...kept,
        currency ?? '',
      ];
      return moveReply.parse(await onStore(redis, () => runScript(redis, MOVE_POINTS, keys, args)));
    },

    /** Counts a request in the realm's sliding window, and says whether it is within the rate. */
    async admit(realmId: string, rate: Rate): Promise<Admission> {
      const args = [rate.requests, Math.round(rate.windowMs * 1000)];
      const key = realmKeys(realmId).requests;
      const reply = await onStore(redis, () => runScript(redis, ADMIT, [key], args));
      const [admitted, remaining, resetUs] = admitReply.parse(reply);
      return { admitted: admitted === 1, remaining, resetMs: resetUs / 1000 };
    },
  };
}
