import type { Redis } from 'ioredis';
import { parse } from 'lossless-json';
import { z } from 'zod';
import type { Rate } from '../../core/profile.js';
import { comparableWallet } from '../wallet.js';
import type { Admission } from './answer.js';
import { ADMIT, asking, MOVE_POINTS, READ_MEMBER, realmKeys, runScript } from './store.js';

/**
 * The realm's books as the five calls see them. Every change is one script: balance, stored answer and
 * the line in the applied log happen together, so that a service killed at any moment leaves whole books.
 */

const RETENTION = {
  /** Answers are kept at least this long, and at most twice as long; see lua/includes/answers.lua. */
  answersKeptMs: 48 * 60 * 60 * 1000,
  /** In each of the two generations. */
  answersMax: 1_000_000,
  appliedMax: 2_000_000,
};

export type Change = {
  readonly member: string;
  /** Of a transfer. */
  readonly recipient: string | null;
  readonly tokens: number;
  /** Null: the realm's own. */
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

/** The balance of the recipient stands only in the reply to a transfer. */
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

/** As the script gives them: a currency and what is held of it, in turn. */
function balancesOf(others: readonly string[]): Record<string, number> {
  const found = new Map<string, number>();
  for (let at = 0; at < others.length; at += 2) found.set(others[at] ?? '', Number(others[at + 1]));
  return Object.fromEntries(found);
}

export type RealmAccounts = ReturnType<typeof openAccounts>;

export function openAccounts(redis: Redis, retention: Partial<typeof RETENTION> = {}) {
  const { answersKeptMs, answersMax, appliedMax } = { ...RETENTION, ...retention };
  return {
    /** Undefined: no such member. */
    async member(realmId: string, member: string) {
      const { balances, profiles, currencies } = realmKeys(realmId);
      const keys = [balances, profiles, currencies];
      const reply = await asking(redis, () => runScript(redis, READ_MEMBER, keys, [member]));
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

    /** For each wallet, in the order asked: whether it belongs to a member. */
    async walletsKnown(realmId: string, wallets: readonly string[]): Promise<boolean[]> {
      if (wallets.length === 0) return [];
      const fields = wallets.map(comparableWallet);
      const owners = await asking(redis, () => redis.hmget(realmKeys(realmId).wallets, ...fields));
      return owners.map((owner) => owner !== null);
    },

    /** Adds or, where `tokens` is negative, subtracts; to a recipient it moves. */
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
      return moveReply.parse(await asking(redis, () => runScript(redis, MOVE_POINTS, keys, args)));
    },

    async admit(realmId: string, rate: Rate): Promise<Admission> {
      const args = [rate.requests, Math.round(rate.windowMs * 1000)];
      const key = realmKeys(realmId).requests;
      const reply = await asking(redis, () => runScript(redis, ADMIT, [key], args));
      const [admitted, remaining, resetUs] = admitReply.parse(reply);
      return { admitted: admitted === 1, remaining, resetMs: resetUs / 1000 };
    },
  };
}
