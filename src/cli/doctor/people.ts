import { CATALOGUE } from '../../core/errors/catalogue.js';
import { isAlmonerError } from '../../core/errors/error.js';
import type { Person, Requirement } from '../../core/people.js';
import type { RealmProfile } from '../../core/profile.js';
import { keptNotes } from '../../operations/pay/kept-notes.js';
import { isRequired, requirementOf, whoActs } from '../../operations/people/who.js';
import type { App } from '../../runtime/app.js';
import { requirementWords } from '../../words/people.js';
import { counted, isoTime } from '../../words/spelling.js';
import { type CheckResult, failed, ok, warning } from './machine.js';

/** The realm's settings about people: approvals, time zone, quiet hours and kept column names. */
export type RealmTerms = {
  readonly realm: string;
  readonly approval: Requirement & { readonly words: string };
  readonly timezone: string;
  readonly quietHours: readonly string[];
  /** Newest first. Null where the store did not answer. */
  readonly columns:
    | readonly { readonly map: readonly string[]; readonly who: string; readonly at: string }[]
    | null;
};

/** Collects the realm's settings about people. Kept columns come from the store. */
export async function realmTerms(profile: RealmProfile, open: () => Promise<App>): Promise<RealmTerms> {
  const { name: realm, timezone, quietHours } = profile;
  const requirement = requirementOf(profile);
  const approval = { ...requirement, words: requirementWords(requirement) };
  const columns = await keptColumns(profile, open).catch(() => null);
  return { realm, approval, timezone, quietHours: quietHours?.texts ?? [], columns };
}

async function keptColumns(profile: RealmProfile, open: () => Promise<App>) {
  const notes = await keptNotes((await open()).ledger(profile)).all();
  const kept = [...notes.values()].sort((one, other) => other.at - one.at);
  return kept.map(({ map, who, at }) => ({
    map: Object.entries(map).map(([column, header]) => `${column}=${header}`),
    who,
    at: isoTime(at),
  }));
}

/** At most this many are printed; `--json` lists all. */
const COLUMNS_SHOWN = 5;

export function termsLines({ approval, timezone, quietHours, columns }: RealmTerms): [string, string][] {
  const shown = (columns ?? [])
    .slice(0, COLUMNS_SHOWN)
    .map(({ map, who, at }) => `${map.join(', ')} (${who}, ${at.slice(0, 10)})`);
  const more = (columns?.length ?? 0) - shown.length;
  const kept = [...shown, ...(more > 0 ? [`${more} more: --json lists them`] : [])];
  const none = columns === null ? 'not known: the store did not say' : 'none';
  return [
    ['approval', approval.words],
    ['time zone', timezone],
    ['quiet hours', quietHours.join(', ') || 'none'],
    ...(kept.length === 0 ? [none] : kept).map((line, at): [string, string] => [
      at === 0 ? 'kept columns' : '',
      line,
    ]),
  ];
}

/** The token that a command started here acts with, and its owner. */
export type TokenInUse = {
  readonly place: string | null;
  readonly state: 'known' | 'not known here' | 'no token';
  readonly person: Pick<Person, 'name' | 'roles'> | null;
};

/** Finds the owner of the configured token. Throws where the token cannot be read or the store does not answer. */
export async function tokenInUse(app: App): Promise<TokenInUse> {
  const { token: source } = app.config;
  const place = source && (source.from === 'env' ? source.name : source.path);
  try {
    const person = await whoActs(app);
    if (person === null) return { place, state: 'no token', person };
    const { name, roles } = person;
    return { place, state: 'known', person: { name, roles } };
  } catch (error) {
    if (!isAlmonerError(error, 'ALM_PEOPLE_TOKEN')) throw error;
    return { place, state: 'not known here', person: null };
  }
}

/**
 * Warns where a realm requires approvals and no token is configured: such a command prepares and approves nothing.
 */
export async function token(app: App): Promise<CheckResult> {
  const { place, state, person } = await tokenInUse(app);
  if (person !== null) return ok(`${place} is the token of ${person.name}: ${person.roles.join(' and ')}`);
  if (state === 'not known here')
    return failed(
      `the token in ${place} is not known here: this store refuses every command that is given with it`,
      `Ask an admin for a new token, or take this one out of ${place}.`,
    );
  const strict = app.config.profiles
    .filter((profile) => isRequired(requirementOf(profile)))
    .map(({ name }) => name);
  if (strict.length === 0) return ok('no token; no realm requires approvals');
  return warning(
    `no token, and ${counted(strict.length, 'realm requires', 'realms require')} approvals (${strict.join(', ')}): no command given here prepares or approves a payment there`,
    CATALOGUE.ALM_PEOPLE_NAMELESS.next,
  );
}
