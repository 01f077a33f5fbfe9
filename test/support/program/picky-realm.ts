import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * A realm that decides by the member's first digit: 9 does not exist (404), 8 fails after the change may have been made
 * (500), and it pays all others. It counts its requests.
 */
export type PickyRealm = {
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  readonly writes: string[];
  /** The bodies of the same writes. */
  readonly bodies: unknown[];
  /** Pays members that begin with this digit from now on. */
  forgive(digit: string): void;
  close(): Promise<void>;
};

export async function startPickyRealm(): Promise<PickyRealm> {
  const writes: string[] = [];
  const bodies: unknown[] = [];
  const forgiven = new Set<string>();
  const server = createServer((request, response) => {
    const member = /members\/(\d+)/.exec(request.url ?? '')?.[1] ?? '';
    const first = member[0] ?? '';
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': `req-${member}` });
      response.end(JSON.stringify(body));
    };
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8');
    });
    request.on('end', () => {
      if (request.method === 'GET') return answer(200, { id: member, balances: { points: 100 } });
      writes.push(member);
      bodies.push(JSON.parse(body));
      if (first === '9' && !forgiven.has('9'))
        return answer(404, { error: 'not_found', message: `member ${member} not found` });
      if (first === '8' && !forgiven.has('8')) return answer(500, { error: 'internal' });
      return answer(200, { newBalance: 107 });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return {
    url,
    env: {
      ALMONER_REALM_URL: url,
      ALMONER_REALM_ID: 'picky',
      ALMONER_API_KEY: 'key-of-the-picky-realm',
      ALMONER_RATE: 'none',
      ALMONER_CERTAINTY: 'manual',
    },
    writes,
    bodies,
    forgive: (digit) => forgiven.add(digit),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
