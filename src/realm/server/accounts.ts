import type { Redis } from 'ioredis';
import { parse } from 'lossless-json';
import { z } from 'zod';
import type { Rate } from '../../core/profile.js';
import { comparableWallet } from '../wallet.js';
import type { Admission } from './answer.js';
import { ADMIT, asking, CHANGE_BALANCE, READ_MEMBER, realmKeys, runScript, TRANSFER } from './store.js';

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

type Change = {
  readonly member: string;
  readonly tokens: number;
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

const memberReply = z.tuple([z.string().nullable(), z.string().nullable()]);
const admitReply = z.tuple([z.number(), z.number(), z.number()]);

export type RealmAccounts = ReturnType<typeof openAccounts>;

export function openAccounts(redis: Redis, retention: Partial<typeof RETENTION> = {}) {
  const { answersKeptMs, answersMax, appliedMax } = { ...RETENTION, ...retention };
  const common = ({ idempotencyKey, requestId }: Change) =>
    [idempotencyKey ?? '', requestId, answersKeptMs, answersMax, appliedMax] as const;

  return {
    /** Undefined: no such member. */
    async member(realmId: string, member: string) {
      const { balances, profiles } = realmKeys(realmId);
      const reply = await asking(redis, () => runScript(redis, READ_MEMBER, [balances, profiles], [member]));
      const [balance, profile] = memberReply.parse(reply);
      if (balance === null || profile === null) return undefined;
      const [createdAt = ''] = profile.split(':', 1);
      return {
        balance: Number(balance),
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

    async change(realmId: string, change: Change) {
      const args = [change.member, change.tokens, ...common(change)];
      const reply = await asking(redis, () => runScript(redis, CHANGE_BALANCE, movedKeys(realmId), args));
      return changeReply.parse(reply);
    },

    async transfer(realmId: string, change: Change & { readonly recipient: string }) {
      const args = [change.member, change.recipient, change.tokens, ...common(change)];
      const reply = await asking(redis, () => runScript(redis, TRANSFER, movedKeys(realmId), args));
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

function movedKeys(realmId: string): string[] {
  const { balances, answers, answersBefore, applied, profiles } = realmKeys(realmId);
  return [balances, answers, answersBefore, applied, profiles];
}
