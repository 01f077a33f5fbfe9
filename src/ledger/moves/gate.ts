import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Person, Requirement } from '../../core/people.js';
import { CLOSED, type Closed } from '../../core/waiting.js';
import { spellMoment } from '../../core/zones.js';
import { FORMAT, FORMAT_FIELD } from '../format.js';
import { REALMS_KEY } from '../keys.js';
import { allLedgers, askScript, type BatchPlace, type RealmLedger, timeOn } from '../realm-ledger.js';
import { noteAct } from '../sessions/acts.js';
import { type AuditEntry, encodeAudit, type Reason } from '../views.js';

/** The second person's go, and the time a batch waits for (see includes/gate.lua). */

/** For so long a go counts that no batch has used, and a first person's word for a weaker requirement. */
const GO_MS = 72 * 3_600_000;

const go = z.object({ who: z.string(), at: z.number(), ends: z.number() });

export function isClosed(state: string): state is Closed {
  return CLOSED.some((why) => why === state);
}

/** When a batch is to begin, and by whose wall that was said. */
export type Start = { readonly at: number; readonly zone: string };

/** How a batch stands before it begins. */
export type Gate = {
  readonly closed: Closed | null;
  /** It has begun, and a retry of its dead letters was refused for want of a second person. */
  readonly retry: boolean;
  /** By the name of their token; null: nobody is known. */
  readonly preparer: string | null;
  readonly start: Start | null;
  /** A go that it has not used yet. */
  readonly go: z.infer<typeof go> | null;
};

/** A batch that stands still keeps its set time; a person who resumes it has to know that. */
export function withSetTime(reason: Reason, gate: Pick<Gate, 'closed' | 'start'> | null): Reason {
  if (gate?.start == null) return reason;
  const at = spellMoment(gate.start.at, gate.start.zone);
  const said =
    gate.closed === 'start-missed'
      ? `It was to begin at ${at}, and begins now only where a person says so.`
      : `Its set time stays when it is resumed: it begins at ${at}.`;
  return { ...reason, message: `${reason.message} ${said}` };
}

export async function readGate({ ledger, no }: BatchPlace): Promise<Gate> {
  const [closed = '', preparer = '', at = '', zone = '', json = ''] = await askScript(ledger, 'read-gate', [
    no,
  ]);
  return {
    closed: isClosed(closed) ? closed : null,
    retry: closed === 'retry',
    preparer: preparer || null,
    start: at === '' ? null : { at: Number(at), zone },
    go: json === '' ? null : go.parse(JSON.parse(json)),
  };
}

/** What the seal needs to know of who prepared the batch, and when it is to begin. */
export type Prepared = {
  readonly who: string | null;
  readonly requirement: Requirement;
  /** What they have prepared alone in other books of the same realm id. */
  readonly besides: { readonly rows: number; readonly tokens: number };
  readonly start: Start | null;
};
export const BY_NOBODY: Prepared = {
  who: null,
  requirement: { overTokens: null, overRows: null },
  besides: { rows: 0, tokens: 0 },
  start: null,
};

export function encodePrepared({ who, requirement, besides, start }: Prepared): string {
  const [overTokens, overRows] = argumentsOf(requirement);
  return JSON.stringify({
    who,
    overTokens,
    overRows,
    besides: [besides.rows, besides.tokens],
    startAt: start?.at ?? null,
    startZone: start?.zone ?? '',
  });
}

const argumentsOf = ({ overTokens, overRows }: Requirement) =>
  [String(overTokens ?? ''), String(overRows ?? '')] as const;
const requirementOf = (overTokens?: string | null, overRows?: string | null): Requirement => ({
  overTokens: overTokens ? Number(overTokens) : null,
  overRows: overRows ? Number(overRows) : null,
});

export async function readRequirement({ scripts, keyPrefix }: RealmLedger): Promise<Requirement> {
  const most = await scripts.ask('read requirement', (redis) =>
    redis.hmget(keyPrefix, 'overTokens', 'overRows'),
  );
  return requirementOf(...most);
}

/**
 * The same realm id under another spelling of its address has other books; what is required, and what somebody has
 * prepared, counts in all of them.
 */
async function otherBooks({ scripts, keyPrefix, realm }: RealmLedger): Promise<RealmLedger[]> {
  if (realm.rehearsal) return [];
  return (await allLedgers(scripts)).filter(
    (other) =>
      other.realm.realmId === realm.realmId && other.keyPrefix !== keyPrefix && !other.realm.rehearsal,
  );
}

export async function readOtherBooks(ledger: RealmLedger, who: string | null) {
  const { scripts } = ledger;
  const requirements: Requirement[] = [];
  let [rows, tokens] = [0, 0];
  for (const other of await otherBooks(ledger)) {
    requirements.push(await readRequirement(other));
    if (who === null) continue;
    // Whoever seals there at this moment looks again: of two at once one finds the other (see announceAddress).
    await scripts.ask('announce', (redis) => redis.hincrby(other.keyPrefix, 'seals', 1));
    const entries = await scripts.ask('read prepared', async (redis) =>
      redis.zrangebyscore(
        `${other.keyPrefix}:prepared:${who.toLowerCase()}`,
        (await timeOn(redis)) - DAY_MS,
        '+inf',
      ),
    );
    for (const entry of entries) {
      const [, ofRows, ofTokens] = entry.split(' ').map(Number);
      rows += ofRows ?? 0;
      tokens += ofTokens ?? 0;
    }
  }
  return { requirements, besides: { rows, tokens } };
}

const DAY_MS = 24 * 3_600_000;

/** Of each kind the lower limit. */
export function strictest(requirements: readonly Requirement[]): Requirement {
  const least = (of: keyof Requirement) => {
    const most = requirements.flatMap((one) => one[of] ?? []);
    return most.length === 0 ? null : Math.min(...most);
  };
  return { overTokens: least('overTokens'), overRows: least('overRows') };
}

const changeReply = z.tuple([
  z.enum(['kept', 'asked', 'changed', 'same-person', 'not-approver']),
  z.string(),
  z.string(),
  z.string(),
]);

const askChange = async (ledger: RealmLedger, args: readonly string[]) =>
  changeReply.parse(await askScript(ledger, 'change-requirement', args));

const isNothing = ({ overTokens, overRows }: Requirement) => overTokens === null && overRows === null;

/**
 * A profile was seen that requires this: at a start, before somebody prepares, and by whoever finds that the store is
 * another one than before, which may have forgotten it.
 */
export async function keepRequirement(
  ledger: RealmLedger,
  requirement: Requirement = ledger.asked.requirement,
): Promise<void> {
  if (!isNothing(requirement)) await registerRealm(ledger, requirement);
}

/**
 * Notes the realm in the store; done before its first batch is opened. What is required of its id is required in all
 * its books from here on: whoever is noted first is found by who comes at the same moment.
 */
export async function registerRealm(
  ledger: RealmLedger,
  requirement: Requirement = { overTokens: null, overRows: null },
): Promise<void> {
  const { scripts, id, realm } = ledger;
  await scripts.ask('register realm', (redis) =>
    redis.hset(REALMS_KEY, { [FORMAT_FIELD]: FORMAT, [id]: JSON.stringify(realm) }),
  );
  const books = [ledger, ...(await otherBooks(ledger))];
  const known = await Promise.all(books.map(readRequirement));
  const most = strictest([requirement, ...known]);
  for (const [at, one] of books.entries())
    if (!isDeepStrictEqual(known[at], most)) await askChange(one, ['keep', ...argumentsOf(most), '', '', '']);
}

/**
 * One of two people wants exactly this, in all books of the realm id. `first`: who asked for it before. `now`: what is
 * required then; what one of the books says counts for all.
 */
export async function changeRequirement(ledger: RealmLedger, wanted: Requirement, { name, roles }: Person) {
  // Whoever's token is revoked is looked for in all realms that are known.
  await registerRealm(ledger);
  const books = [ledger, ...(await otherBooks(ledger))];
  const by = [name, String(GO_MS), roles.includes('approver') ? '1' : ''];
  const ask = async (one: RealmLedger, mode: 'change' | 'agreed') => {
    const [answer, first] = await askChange(one, [mode, ...argumentsOf(wanted), ...by]);
    return { one, answer, first };
  };
  const asked: Awaited<ReturnType<typeof ask>>[] = [];
  for (const one of books) asked.push(await ask(one, 'change'));
  const said = asked.find(({ answer }) => answer === 'changed') ?? asked[0];
  // Books that came after the first one's word know nothing of it.
  if (said?.answer === 'changed')
    for (const { one, answer } of asked) if (answer !== 'changed') await ask(one, 'agreed');
  const now = strictest(await Promise.all(books.map(readRequirement)));
  return { answer: said?.answer ?? 'asked', first: said?.first ?? '', now };
}

const limit = z.string().transform((most) => (most === '' ? null : Number(most)));
const wish = z.object({ who: z.string(), at: z.number(), overTokens: limit, overRows: limit });
/** What a first person wants a realm to require, while it counts. */
export type Wish = z.infer<typeof wish>;

export async function readWish({ scripts, keyPrefix }: RealmLedger): Promise<Wish | null> {
  return scripts.ask('read wish', async (redis) => {
    const [json, now] = await Promise.all([redis.hget(keyPrefix, 'lowering'), timeOn(redis)]);
    const known = json === null ? null : wish.parse(JSON.parse(json));
    return known !== null && now - known.at < GO_MS ? known : null;
  });
}

const approveReply = z.enum([
  'approved',
  'taken-up',
  'same-person',
  'changed',
  'not-needed',
  'disarmed',
  'gone',
]);

/** `seal`: of the manifest as it was shown. */
export async function approveBatch(
  { ledger, no, id }: BatchPlace & { readonly id: string },
  by: { readonly who: string; readonly seal: string },
  audit: { readonly go: AuditEntry; readonly takenUp: AuditEntry },
): Promise<z.infer<typeof approveReply>> {
  const [answer] = await askScript(ledger, 'approve', [
    no,
    id,
    by.who,
    by.seal,
    GO_MS,
    encodeAudit(audit.go),
    encodeAudit(audit.takenUp),
  ]);
  return approveReply.parse(answer);
}

/** Whose token is revoked has approved nothing that has not begun. */
export async function withdrawApprovals(scripts: RealmLedger['scripts'], who: string): Promise<string[]> {
  const found = await Promise.all(
    (await allLedgers(scripts)).map(async (ledger) => {
      const batches = await askScript(ledger, 'withdraw-approvals', [who]);
      if (batches.length > 0) await noteAct(ledger);
      return batches;
    }),
  );
  return found.flat();
}
