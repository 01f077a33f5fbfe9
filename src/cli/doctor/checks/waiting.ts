import { isAlmonerError } from '../../../core/errors/error.js';
import type { Waiting } from '../../../core/waiting.js';
import { allWaiting, type BatchWaiting } from '../../../operations/batches/waiting.js';
import { App } from '../../../runtime/app.js';
import type { Config } from '../../../runtime/config/config.js';
import type { Logger } from '../../../runtime/logger.js';
import { type Check, failed, ok, warning } from '../check.js';

/** Whether orders stand still, and for what; processes that are lost with orders in their hands above all. */
export function waiting(config: Config, env: NodeJS.ProcessEnv, logger: () => Promise<Logger>): Check {
  return {
    name: 'waiting',
    async run() {
      try {
        const options = { config, logger: await logger(), env, clientName: 'doctor', patienceMs: 5_000 };
        const app = await App.open(options);
        try {
          return judge((await allWaiting(app)).filter(({ rehearsal }) => !rehearsal));
        } finally {
          await app.close();
        }
      } catch (error) {
        if (isAlmonerError(error)) return failed(error.message, error.next);
        throw error;
      }
    },
  };
}

function judge(batches: readonly BatchWaiting[]) {
  const all = batches.flatMap(({ batch, waiting }) => waiting.map((one) => ({ batch, ...one })));
  // What ends by itself is said, and is no fault.
  const wants = all.filter(({ next }) => next !== null);
  const [first] = [...wants.filter(({ session }) => session !== null), ...wants];
  const lines = all.map(lineOf).join('\n');
  if (all.length === 0) return ok('no order stands still');
  if (first?.next == null) return ok(lines);
  return (first.session === null ? warning : failed)(lines, `Run \`${first.next}\`.`);
}

function lineOf({ batch, why, orders, tokens, message }: Waiting & { readonly batch: string }): string {
  return `batch ${batch}: ${orders} orders, ${tokens} tokens (${why}). ${message}`;
}
