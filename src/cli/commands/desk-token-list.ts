import { Tokens } from '../../desk/http/access/tokens.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';

export const command = defineCommand({
  name: 'desk token list',
  description: 'Who may use the desk.',
  arguments: {},
  options: {},
  run: async (context) =>
    withApp<ExitStatus>(context, 'desk-token', async (app) => {
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
                ({ name, role, createdAt, createdBy }) =>
                  `${name.padEnd(width)}  ${role.padEnd(8)}  since ${createdAt.slice(0, 10)}, made by ${createdBy}`,
              ),
        next: tokens.length === 0 ? 'almoner desk token add NAME --role viewer|operator' : null,
      });
      return 0;
    }),
});
