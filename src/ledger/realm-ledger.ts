import type { Redis } from 'ioredis';
import { z } from 'zod';
import { isAlmonerError } from '../core/errors/error.js';
import type { BatchId } from '../core/ids.js';
import type { Requirement } from '../core/people.js';
import type { AfterRollback } from '../core/profile.js';
import { FORMAT_FIELD } from './format.js';
import { batchKeys, ledgerId, REALMS_KEY } from './keys.js';
import { type Argument, type ScriptClient, texts } from './script-client.js';

/** The ledger of one realm: its key in the store and the way to call its scripts. */
export type RealmLedger = {
  readonly scripts: ScriptClient;
  readonly keyPrefix: string;
  /** BullMQ's, for the queues of the realm: in the same slot as its ledger. */
  readonly queuePrefix: string;
  /** Tells the ledgers of a store apart; also the folder of the realm's archives, because names change. */
  readonly id: string;
  readonly realm: KnownRealm;
  readonly mark: FenceMark;
  /** What the profile asks that it was opened with. */
  readonly asked: Asked;
  /** What is asked of each script together (see `askTogether`). */
  readonly batchers: Map<string, CallBatcher<OrderAsk, string[]>>;
};

type Asked = {
  /** What one person may pay alone. */
  readonly requirement: Requirement;
  readonly afterRollback: AfterRollback;
};

type OrderAsk = readonly unknown[];

/** A call with so many orders takes Redis a few milliseconds. */
const ORDERS_IN_A_CALL = 64;

/** What this process knows of the ledger's past; the claim and send scripts compare it with what they find. */
type FenceMark = {
  /** The highest sequence seen: a lower one later is a store that forgot. */
  seen: number;
  /** The arming this process has merged its journal for; empty before the first. */
  era: string;
  /** The session that asks; empty where nothing is ever sent. One that was given up begins nothing. */
  session: string;
  /** The sequence of the last order that it began; 0 before the first. The store must never know a lower one. */
  begun: number;
  /** Until when it sends nothing for the first time: the quiet hours of its profile. */
  quietUntil: () => number;
};

/** What was seen once must never be forgotten by the store; the next claim asks. */
export function noteSeq(ledger: RealmLedger, seq: string | number | undefined): void {
  ledger.mark.seen = Math.max(ledger.mark.seen, Number(seq ?? 0));
}

/** What is known of a realm besides its orders, so that every command can name it without a profile. */
const knownRealm = z.object({
  name: z.string(),
  baseUrl: z.string(),
  realmId: z.string(),
  rehearsal: z.boolean(),
});
export type KnownRealm = z.infer<typeof knownRealm>;

export function openLedger(
  scripts: ScriptClient,
  realm: KnownRealm,
  asked: Partial<Asked> = {},
): RealmLedger {
  const id = ledgerId(realm);
  const mark: FenceMark = { seen: 0, era: '', session: '', begun: 0, quietUntil: () => 0 };
  const { requirement = { overTokens: null, overRows: null }, afterRollback = 'wait' } = asked;
  return {
    scripts,
    // The key from which every script derives the others.
    keyPrefix: `almoner:{${id}}`,
    queuePrefix: `almoner:{${id}}:q`,
    id,
    realm,
    mark,
    asked: { requirement, afterRollback },
    batchers: new Map(),
  };
}

/** Asks the store about a realm, whose keys begin with `T`, as in the scripts. */
export function askRealm<Answer>(
  { scripts, keyPrefix }: RealmLedger,
  what: string,
  question: (redis: Redis, T: string) => Promise<Answer>,
): Promise<Answer> {
  return scripts.ask(what, (redis) => question(redis, keyPrefix));
}

/** Asks a script of the realm that answers with a list. */
export async function askScript(
  { scripts, keyPrefix }: RealmLedger,
  script: string,
  args: readonly Argument[],
): Promise<string[]> {
  return texts(await scripts.script(script, keyPrefix, args));
}

/**
 * Asks a script about one order, in one call with the others that are asked about at the same moment. Asked again while
 * the store refuses in passing.
 */
export function askTogether(
  ledger: RealmLedger,
  script: string,
  order: OrderAsk,
  head: () => readonly Argument[] = () => [],
): Promise<string[]> {
  return ledger.scripts.ask(script, () => askTogetherOnce(ledger, script, order, head));
}

/** The same, and every refusal of the store goes to the caller. */
export function askTogetherOnce(
  { scripts, keyPrefix, batchers }: RealmLedger,
  script: string,
  order: OrderAsk,
  head: () => readonly Argument[] = () => [],
): Promise<string[]> {
  const known = batchers.get(script);
  if (known !== undefined) return known.ask(order);
  const batcher = new CallBatcher(
    (orders: readonly OrderAsk[]) => scripts.orders(script, keyPrefix, head(), orders),
    ORDERS_IN_A_CALL,
  );
  batchers.set(script, batcher);
  return batcher.ask(order);
}

/** Asks about one order in a call of its own: others neither wait for it nor share its fate. */
export async function askSingly(
  { scripts, keyPrefix }: RealmLedger,
  script: string,
  order: OrderAsk,
): Promise<string[]> {
  const [answer] = await scripts.orders(script, keyPrefix, [], [order]);
  if (answer === undefined) throw new TypeError(TOO_FEW);
  if (answer instanceof Error) throw answer;
  return answer;
}

const TOO_FEW = 'the script gave fewer answers than it was asked';

/** A batch in the store. */
export type BatchPlace = { readonly ledger: RealmLedger; readonly no: string };

/** The same with the id by which people know it: since a rollback a number may stand for another batch. */
export type BatchRef = BatchPlace & { readonly id: BatchId };

/** Single facts of a batch; null for what it does not have. */
export function batchFacts({ ledger: { scripts, keyPrefix }, no }: BatchPlace, ...fields: readonly string[]) {
  return scripts.ask('read batch', (redis) => redis.hmget(batchKeys(keyPrefix, no).meta, ...fields));
}

/** Due times are the store's: this machine's clock may be another one, or be stepped. */
export function storeNowMs({ scripts }: Pick<RealmLedger, 'scripts'>): Promise<number> {
  return scripts.ask('read the clock', timeOn);
}

/** The same within a question: one that is asked again reads the clock again. */
export async function timeOn(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** All realms that ever had a batch in this store. */
export async function allLedgers(scripts: ScriptClient): Promise<RealmLedger[]> {
  const { [FORMAT_FIELD]: _, ...entries } = await scripts.ask('list realms', (redis) =>
    redis.hgetall(REALMS_KEY),
  );
  return Object.values(entries).map((json) => openLedger(scripts, knownRealm.parse(JSON.parse(json))));
}

/**
 * Calls that come while another is under way leave together in the next one. Sixty orders under way make a
 * handful of script calls instead of sixty, and share their fsync; a single order waits for nobody.
 */
export class CallBatcher<Ask, Answer> {
  private waiting: Waiting<Ask, Answer>[] = [];
  private underWay = false;

  constructor(
    /** Answers each ask, in the order asked. An Error is the answer of that ask alone. */
    private readonly call: (asks: readonly Ask[]) => Promise<readonly (Answer | Error)[]>,
    /** The most that one call carries, so that none holds the store up. */
    private readonly most: number,
  ) {}

  ask(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ask, resolve, reject });
      if (this.underWay) return;
      this.underWay = true;
      // What became ready in the same moment shares the first call too.
      setImmediate(() => void this.work());
    });
  }

  private async work(): Promise<void> {
    while (this.waiting.length > 0) {
      const some = this.waiting.splice(0, this.most);
      const failure = await this.answer(some);
      if (failure === undefined) continue;
      // A store that did not answer for the whole patience answers none of them singly either.
      if (some.length === 1 || isAlmonerError(failure)) for (const { reject } of some) reject(failure);
      // One order may have made the call fail: the others get their answers without it.
      else
        for (const one of some) {
          const own = await this.answer([one]);
          if (own !== undefined) one.reject(own);
        }
    }
    this.underWay = false;
  }

  /** The error, where the call failed as a whole. */
  private async answer(some: readonly Waiting<Ask, Answer>[]): Promise<unknown> {
    try {
      const answers = await this.call(some.map(({ ask }) => ask));
      some.forEach(({ resolve, reject }, i) => {
        const answer = answers[i];
        if (answer === undefined) reject(new TypeError(TOO_FEW));
        else if (answer instanceof Error) reject(answer);
        else resolve(answer);
      });
      return undefined;
    } catch (error) {
      return error ?? new TypeError('the call failed without an error');
    }
  }
}

type Waiting<Ask, Answer> = {
  readonly ask: Ask;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
};

/** An order's way from planned to being sent. Each step is one script; the script decides. */

export type OrderRef = { readonly no: string; readonly index: number };
