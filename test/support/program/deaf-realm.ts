import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';

/**
 * An answer of the realm: an HTTP status, or `hang`. A request that hangs gets no answer. Its change is made when the
 * test calls `land`, and from then on the realm answers its key with that payment.
 */
export type Answer = number | 'hang';

export class DeafRealm {
  /** The keys of all requested changes. */
  readonly asked: string[] = [];
  /** The members of all changes that were made. */
  readonly applied: string[] = [];
  private readonly paid = new Set<string>();
  private readonly hanging: { key: string; member: string; response: ServerResponse }[] = [];
  private port = 0;

  /**
   * `answerTo` chooses the answer to each request, given the number of earlier requests. A paid key always gets its
   * payment as the answer.
   */
  constructor(private readonly answerTo: (before: number) => Answer) {}

  static async start(answerTo: (before: number) => Answer): Promise<DeafRealm> {
    const realm = new DeafRealm(answerTo);
    const server = createServer((request, response) => {
      const member = /members\/(\d+)/.exec(request.url ?? '')?.[1] ?? '';
      const key = String(request.headers['idempotency-key'] ?? '').replaceAll('"', '');
      request.resume().on('end', () => {
        if (request.method === 'GET') answer(response, 200, { id: member, tokenBalance: 100 });
        else realm.change(key, member, response);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    realm.port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return realm;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Carries out the requests that hang. No sender receives their answers. */
  land(): void {
    for (const { key, member } of this.hanging.splice(0)) this.apply(key, member);
  }

  private change(key: string, member: string, response: ServerResponse): void {
    const status = this.paid.has(key) ? 200 : this.answerTo(this.asked.length);
    this.asked.push(key);
    if (status === 'hang') {
      this.hanging.push({ key, member, response });
      return;
    }
    if (status === 200) this.apply(key, member);
    answer(
      response,
      status,
      status === 200 ? { newBalance: 105 } : { error: 'no', message: `told ${status}` },
    );
  }

  /** Applies a key once: of two hanging requests with the same key, only one makes the change. */
  private apply(key: string, member: string): void {
    if (this.paid.has(key)) return;
    this.paid.add(key);
    this.applied.push(member);
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
