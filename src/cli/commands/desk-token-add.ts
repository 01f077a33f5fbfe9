import { AuditTrail } from '../../desk/audit-trail.js';
import { ROLES, Tokens } from '../../desk/http/access/tokens.js';
import { registerSecret } from '../../runtime/redaction.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument, choice, usage } from '../frame/options.js';

export const command = defineCommand({
  name: 'desk token add',
  description: 'Lets somebody use the desk. The token is shown this once; the store keeps only its hash.',
  arguments: { NAME: argument('who it is for: the “who” of the audit') },
  options: { role: choice(ROLES, 'viewer looks, operator also changes') },
  examples: ['almoner desk token add ada --role operator'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'desk-token', async (app) => {
      const { args, options, output } = context;
      const { role } = options;
      if (role === undefined) throw usage(`--role is missing: ${ROLES.join(' or ')}. Nothing was done.`);
      const { operator } = app.config;
      const token = await new Tokens(app.scripts).add(args.NAME, role, operator, Date.now());
      registerSecret(token);
      const what = `added desk token ${args.NAME} (${role})`;
      await new AuditTrail(app.scripts, Date.now).write(
        { who: operator, what, why: null, batch: null },
        'operator',
      );
      output.print({
        json: { name: args.NAME, role, token },
        text: [`${args.NAME} may use the desk as ${role}.`, `Token (shown this once): ${token}`],
        next: 'hand it over; it is typed into the desk’s login form, or sent as `Authorization: Bearer`.',
      });
      return 0;
    }),
});
