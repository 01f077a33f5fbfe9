import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newToken, Tokens } from '../operations/people/tokens.js';
import { startSchedules } from '../operations/rules/schedules.js';
import { startArchiving } from '../operations/services/archive.js';
import { keepLedgersOpen } from '../operations/services/keep-open.js';
import { Rounds } from '../queue/rounds.js';
import type { App } from '../runtime/app.js';
import { registerSecret } from '../runtime/logger.js';
import { deskAddress } from './http/access/address.js';
import { createDesk } from './http/server.js';

/** The desk with what runs beside it: its pages, API and metrics, schedules, and the notices to the outside. */
export type ServeOptions = {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly insecureHttp: boolean;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
};

export type Serving = {
  readonly url: string;
  /** The token of this start only, on loopback where none is configured. */
  readonly token: string | null;
  /** Nobody can sign in before a token is made. */
  readonly closed: boolean;
  /** False: the pages were not built, and only the API answers. */
  readonly pages: boolean;
  close(): Promise<void>;
};

/** Where the build puts the pages: beside the compiled desk. */
const WEB_FOLDER = fileURLToPath(new URL('./web', import.meta.url));

export async function startServing(app: App, options: ServeOptions): Promise<Serving> {
  const address = deskAddress(options);
  const empty = await new Tokens(app.scripts).isEmpty();
  // Behind a proxy loopback is the whole world.
  const isOnlyLocal = address.loopback && address.publicUrl === null;
  const token = empty && isOnlyLocal ? newToken() : null;
  if (token !== null) registerSecret(token);
  const stop = new AbortController();
  const { version, cwd, env } = options;
  const given = { version, cwd, env, stop: stop.signal, webFolder: WEB_FOLDER };
  const server = await createDesk(app, { ...given, address, localToken: token });
  try {
    const { url } = await server.listen(options.port);
    const schedules = await startSchedules(app, { stop: stop.signal });
    const archiving = startArchiving(app, stop.signal);
    const opening = keepLedgersOpen(app, stop.signal);
    const rounds = new Rounds((message) => app.logger.warn({ message }, 'trouble'));
    const notices = server.desk.notices.start(server.desk.board, address.publicUrl);
    return {
      url,
      token,
      closed: empty && token === null,
      pages: existsSync(join(WEB_FOLDER, 'index.html')),
      async close() {
        stop.abort();
        await rounds.stop();
        await schedules.stop();
        await archiving;
        await opening;
        await notices.close();
        await server.close();
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}
