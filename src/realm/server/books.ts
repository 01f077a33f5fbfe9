import type { Redis } from 'ioredis';
import { parse } from 'lossless-json';
import { z } from 'zod';
import type { Rate } from '../../core/profile.js';
import { asking } from './answer.js';
import { ADMIT, CHANGE_BALANCE, type RealmKeys, realmKeys, runScript, TRANSFER } from './keys.js';
import { comparableWallet } from './member-seed.js';

/**
 * The realm's books as the five calls see them. Every change is one script: balance, stored answer and
 * the line in the applied log happen together, so that a service killed at any moment leaves whole books.
 */

export type Retention = {
  /** Answers are kept at least this long, and at most twice as long; see lua/includes/answers.lua. */
  readonly answersKeptMs: number;
  /** In each of the two generations. */
  readonly answersMax: number;
  readonly appliedMax: number;
};

export const RETENTION: Retention = {
  answersKeptMs: 48 * 60 * 60 * 1000,
  answersMax: 1_000_000,
  appliedMax: 2_000_000,
};

export type MemberRecord = {
  readonly balance: number;
  readonly createdAtMs: number;
  readonly wallets: readonly string[];
  readonly web3: Readonly<Record<string, unknown>>;
  readonly attributes: Readonly<Record<string, unknown>>;
};

export type ChangeResult =
  | { readonly kind: 'applied' | 'replayed'; readonly balance: number }
  | { readonly kind: 'too-small' | 'out-of-range'; readonly balance: number }
  | { readonly kind: 'conflict' | 'unknown-member' };

export type TransferResult =
  | { readonly kind: 'applied' | 'replayed'; readonly balance: number; readonly recipientBalance: number }
  | { readonly kind: 'too-small' | 'out-of-range'; readonly balance: number }
  | { readonly kind: 'conflict' | 'unknown-member' | 'unknown-recipient' };

export type Admission = { readonly admitted: boolean; readonly remaining: number; readonly resetMs: number };

export type Change = {
  readonly member: string;
  readonly tokens: number;
  readonly idempotencyKey: string | null;
  readonly requestId: string;
};

const facts = z.record(z.string(), z.unknown());
const storedProfile = z.object({ wallets: z.array(z.string()), web3: facts, attributes: facts });
const points = z
  .string()
  .regex(/^-?\d+$/)
  .transform(Number);

const changeReply = z.union([
  z
    .tuple([z.enum(['applied', 'replayed', 'too-small', 'out-of-range']), points])
    .transform(([kind, balance]) => ({ kind, balance })),
  z.tuple([z.enum(['conflict', 'unknown-member'])]).transform(([kind]) => ({ kind })),
]);

const transferReply = z.union([
  z
    .tuple([z.enum(['applied', 'replayed']), points, points])
    .transform(([kind, balance, recipientBalance]) => ({ kind, balance, recipientBalance })),
  z
    .tuple([z.enum(['too-small', 'out-of-range']), points])
    .transform(([kind, balance]) => ({ kind, balance })),
  z.tuple([z.enum(['conflict', 'unknown-member', 'unknown-recipient'])]).transform(([kind]) => ({ kind })),
]);

const admitReply = z.tuple([z.number(), z.number(), z.number()]);

export type RealmAccounts = ReturnType<typeof openAccounts>;

export function openAccounts(redis: Redis, retention: Partial<Retention> = {}) {
  const { answersKeptMs, answersMax, appliedMax } = { ...RETENTION, ...retention };
  const common = ({ idempotencyKey, requestId }: Change) =>
    [idempotencyKey ?? '', requestId, answersKeptMs, answersMax, appliedMax] as const;

  return {
    async member(realmId: string, member: string): Promise<MemberRecord | undefined> {
      const keys = realmKeys(realmId);
      const [balance, profile] = await asking(redis, () =>
        Promise.all([redis.hget(keys.balances, member), redis.hget(keys.profiles, member)]),
      );
      if (balance === null || profile === null) return undefined;
      const colon = profile.indexOf(':');
      return {
        balance: Number(balance),
        createdAtMs: Number(profile.slice(0, colon)),
        ...storedProfile.parse(parse(profile.slice(colon + 1))),
      };
    },

    /** For each wallet, in the order asked: whether it belongs to a member. */
    async walletsKnown(realmId: string, wallets: readonly string[]): Promise<boolean[]> {
      if (wallets.length === 0) return [];
      const fields = wallets.map(comparableWallet);
      const owners = await asking(redis, () => redis.hmget(realmKeys(realmId).wallets, ...fields));
      return owners.map((owner) => owner !== null);
    },

    async change(realmId: string, change: Change): Promise<ChangeResult> {
      const keys = realmKeys(realmId);
      const args = [change.member, change.tokens, ...common(change)];
      const reply = await asking(redis, () => runScript(redis, CHANGE_BALANCE, movedKeys(keys), args));
      return changeReply.parse(reply);
    },

    async transfer(
      realmId: string,
      change: Change & { readonly recipient: string },
    ): Promise<TransferResult> {
      const keys = realmKeys(realmId);
      const args = [change.member, change.recipient, change.tokens, ...common(change)];
      const reply = await asking(redis, () => runScript(redis, TRANSFER, movedKeys(keys), args));
      return transferReply.parse(reply);
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

function movedKeys(keys: RealmKeys): string[] {
  return [keys.balances, keys.answers, keys.answersBefore, keys.applied];
}
