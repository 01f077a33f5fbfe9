import { ROLES } from '../../core/people.js';
import { revokeToken } from '../../operations/approvals/revoke-token.js';
import { addToken } from '../../operations/people/manage-tokens.js';
import { Tokens } from '../../operations/people/tokens.js';
import { revokedWords } from '../../words/people.js';
import { storeCommand } from '../frame/open-app.js';
import { argument, choices, usage } from '../frame/options.js';

/** Makes a named desk token and prints it once. */
export const add = storeCommand({
  name: 'desk token add',
  description:
    'Makes a token, which lets its owner use the desk. The token is shown only once; the store keeps only its hash.',
  arguments: { NAME: argument('who it is for: the “who” of the audit') },
  options: {
    role: choices(
      ROLES,
      'viewer looks, operator prepares and steers, approver approves what others prepared or asked for, admin gives tokens; several times for several',
    ),
  },
  examples: ['almoner desk token add ada --role operator'],
  run: (context) => async (app) => {
    const { args, options, output } = context;
    const { role: roles } = options;
    if (roles.length === 0) throw usage(`--role is missing: ${ROLES.join(', ')}. Nothing was done.`);
    const token = await addToken(app, args.NAME, roles);
    output.print({
      json: { name: args.NAME, roles, token },
      text: [`${args.NAME} may act as ${roles.join(' and ')}.`, `Token (shown this once): ${token}`],
      next: 'hand it over; it is typed into the desk’s login form, sent as `Authorization: Bearer`, or stands in ALMONER_TOKEN where its owner gives commands.',
    });
  },
});

/** Lists the desk tokens with their roles, never the tokens themselves. */
export const list = storeCommand({
  name: 'desk token list',
  description: 'Who may use the desk.',
  run: (context) => async (app) => {
    const entries = await new Tokens(app.scripts).list();
    const tokens = entries.map((entry) => ({
      ...entry,
      createdAt: new Date(entry.createdAt).toISOString(),
    }));
    const width = Math.max(4, ...tokens.map(({ name }) => name.length));
    context.output.print({
      json: { tokens },
      text:
        tokens.length === 0
          ? 'No desk token is configured: the desk opens on loopback only, with a link that it prints.'
          : tokens.map(
              ({ name, roles, createdAt, createdBy }) =>
                `${name.padEnd(width)}  ${roles.join(', ').padEnd(8)}  since ${createdAt.slice(0, 10)}, made by ${createdBy}`,
            ),
      next: tokens.length === 0 ? `almoner desk token add NAME --role ${ROLES.join('|')}` : null,
    });
  },
});

/** Revokes a token and ends its sessions. */
export const revoke = storeCommand({
  name: 'desk token revoke',
  description: 'Takes the right to use the desk away; open sessions of that token end at once.',
  arguments: { NAME: argument('as `almoner desk token list` shows it') },
  examples: ['almoner desk token revoke ada'],
  run: (context) => async (app) => {
    const { NAME: name } = context.args;
    const revoked = await revokeToken(app, name);
    context.output.print({
      json: { name, revoked: true, ...revoked },
      text: [
        `${name} can no longer use the desk; their open pages are signed out.`,
        ...revokedWords(revoked).map(({ batch, words }) =>
          batch === null ? words : `Batch ${batch}, ${words}`,
        ),
      ],
    });
  },
});
