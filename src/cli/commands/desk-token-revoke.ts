import { AuditTrail } from '../../desk/audit-trail.js';
import { Tokens } from '../../desk/http/access/tokens.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument } from '../frame/options.js';

export const command = defineCommand({
  name: 'desk token revoke',
  description: 'Takes the right to use the desk away; open sessions of that token end at once.',
  arguments: { NAME: argument('as `almoner desk token list` shows it') },
  options: {},
  examples: ['almoner desk token revoke ada'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'desk-token', async (app) => {
      const { NAME: name } = context.args;
      await new Tokens(app.scripts).revoke(name);
      const what = `revoked desk token ${name}`;
      const who = app.config.operator;
      await new AuditTrail(app.scripts, Date.now).write({ who, what, why: null, batch: null }, 'operator');
      context.output.print({
        json: { name, revoked: true },
        text: `${name} can no longer use the desk; their open pages are signed out.`,
      });
      return 0;
    }),
});
