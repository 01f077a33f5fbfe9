import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';

/** The fate of a write: it arrives, it is lost, or it arrives that many ms later without an answer to its sender. */
export type WriteFate = 'passes' | 'is lost' | number;

/** A proxy before a realm that decides for each write whether and when it arrives. Reads pass. */
export class HoldingRealm {
  writes = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async open(target: () => string, fateOf: (nth: number) => WriteFate): Promise<HoldingRealm> {
    const server = createServer((asked, answer) => {
      const chunks: Buffer[] = [];
      asked.on('data', (chunk: Buffer) => chunks.push(chunk));
      asked.on('end', () => {
        const isWrite = asked.method !== 'GET';
        if (isWrite) holding.writes += 1;
        const fate = isWrite ? fateOf(holding.writes) : 'passes';
        if (fate === 'is lost') return;
        const { 'idempotency-key': _, host: __, ...headers } = asked.headers;
        const pass = () => {
          const url = new URL(asked.url ?? '/', target());
          const passed = request(url, { method: asked.method, headers }, (got) => {
            if (typeof fate === 'number') return got.resume();
            answer.writeHead(got.statusCode ?? 502, got.headers);
            return got.pipe(answer);
          });
          passed.on('error', () => answer.destroy());
          passed.end(Buffer.concat(chunks));
        };
        if (typeof fate === 'number') setTimeout(pass, fate);
        else pass();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const holding = new HoldingRealm(server, `http://127.0.0.1:${address.port}`);
    return holding;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
