import { AlmonerError } from '../../core/errors/error.js';
import type { Person, Requirement, Role } from '../../core/people.js';
import type { RealmProfile } from '../../core/profile.js';
import type { App } from '../../runtime/app.js';
import { Tokens } from './tokens.js';

/** Who acts, where it matters that it is a certain person: known by a token, never by a name that anybody may set. */
export async function whoActs(app: App): Promise<Person | null> {
  const { person, config } = app;
  if (person !== null || config.token === null) return person;
  const known = await new Tokens(app.scripts).identify(app.secret(config.token));
  if (known !== null) return known;
  throw new AlmonerError(
    'ALM_PEOPLE_TOKEN',
    `The token in ${config.token.from === 'env' ? config.token.name : config.token.path} is none that is known here. Nothing was done.`,
  );
}

/** Somebody who has one of these roles. */
export async function personWith(app: App, ...roles: readonly Role[]): Promise<Person> {
  const person = await whoActs(app);
  if (person === null)
    throw new AlmonerError(
      'ALM_PEOPLE_NAMELESS',
      'Nobody knows who gives this command, and it has to be a certain person. Nothing was done.',
    );
  if (roles.some((role) => person.roles.includes(role))) return person;
  throw new AlmonerError(
    'ALM_PEOPLE_ROLE',
    `${person.name} is ${person.roles.join(' and ')}, and this needs ${roles.join(' or ')}. Nothing was done.`,
  );
}

/** What one person may pay alone; a rehearsal pays for nothing. */
export function requirementOf({ approval, rehearsal }: RealmProfile): Requirement {
  return rehearsal ? NOTHING : approval;
}

const NOTHING: Requirement = { overTokens: null, overRows: null };

export function isRequired({ overTokens, overRows }: Requirement): boolean {
  return overTokens !== null || overRows !== null;
}

/** Who may prepare a payment, where the realm requires that it is known who does; asked before a person confirms. */
export async function needPreparer(app: App, profile: RealmProfile): Promise<Person | null> {
  return isRequired(requirementOf(profile)) ? personWith(app, 'operator') : whoActs(app);
}

/** Whether a person's token counts still. */
export async function isKnown(app: App, who: string, role?: Role): Promise<boolean> {
  const known = (await new Tokens(app.scripts).list()).find(({ name }) => name === who);
  return known !== undefined && (role === undefined || known.roles.includes(role));
}

export function revoked(who: string): AlmonerError {
  return new AlmonerError('ALM_PEOPLE_TOKEN', `The token of ${who} counts no more. Nothing was approved.`);
}
