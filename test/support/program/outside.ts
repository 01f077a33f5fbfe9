import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';

/**
 * Closes what a test opens, at the test's end and in reverse order. Test files share their modules, so a hook in this
 * module would run for the first file only.
 */
export const closers = {
  push(close: () => Promise<void>): void {
    onTestFinished(close);
  },
};

export type Got = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** An outside HTTP receiver of alerts. It answers as the test says, and keeps the requests until the test ends. */
export async function outside(answer: (got: Got, count: number) => { status: number; body?: unknown }) {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
      got.push(one);
      const { status, body } = answer(one, got.length);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? {}));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  return {
    got,
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/hook/secret-part`,
  };
}

export function logged() {
  const lines: string[] = [];
  return { lines, logger: pino({ level: 'trace' }, { write: (line: string) => lines.push(line) }) };
}
