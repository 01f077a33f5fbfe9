import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A network between two programs that a test can cut, slow down, silence, or make lose answers. */
export class TcpProxy {
  /** Delay of every chunk, in both directions. */
  delayMs = 0;
  /**
   * `lose-answers`: requests arrive, answers do not. `refuse`: every connection is reset. `silent`: connecting works,
   * and then no data passes in either direction.
   */
  mode: 'pass' | 'lose-answers' | 'refuse' | 'silent' = 'pass';
  /** Counts the answers that passed and that were lost. */
  answers = { passed: 0, lost: 0 };
  private readonly muted = new Set<Socket>();
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private readonly tails = new Map<Socket, Promise<void>>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
    private targetPort: number,
    /** Rewrites requests before they reach the other side. */
    private readonly rewrite: (chunk: Buffer) => Buffer,
  ) {
    server.on('connection', (client: Socket) => this.join(client));
  }

  static async open(targetPort: number, rewrite: (chunk: Buffer) => Buffer = (chunk) => chunk) {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new TcpProxy(server, address.port, targetPort, rewrite);
  }

  /** Resets every connection with everything under way on it. */
  cut(): void {
    for (const pair of this.pairs) for (const socket of pair) socket.resetAndDestroy();
  }

  /** Stops all traffic without closing connections, as when the other host vanishes. */
  silence(): void {
    for (const pair of this.pairs) for (const socket of pair) this.muted.add(socket);
  }

  /** Sends new connections to another server, as after a failover behind one address. */
  aim(port: number): void {
    this.targetPort = port;
    this.cut();
  }

  /** Stops listening: a connection is refused before a byte leaves. */
  async shut(): Promise<void> {
    this.server.close();
    this.cut();
    await once(this.server, 'close');
  }

  async reopen(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  /** Restores a working network, and closes connections that lost answers have damaged. */
  heal(): void {
    this.delayMs = 0;
    const lost = this.mode !== 'pass';
    this.mode = 'pass';
    if (lost) this.cut();
  }

  async close(): Promise<void> {
    this.server.close();
    this.cut();
    await once(this.server, 'close');
  }

  private join(client: Socket): void {
    if (this.mode === 'refuse') {
      client.resetAndDestroy();
      return;
    }
    const target = connect(this.targetPort, '127.0.0.1');
    const pair = [client, target] as const;
    this.pairs.add(pair);
    if (this.mode === 'silent') for (const socket of pair) this.muted.add(socket);
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.pairs.delete(pair);
        this.tails.delete(socket);
        this.muted.delete(socket);
        for (const other of pair) other.destroy();
      });
    }
    client.on('data', (chunk: Buffer) => this.pass(target, this.rewrite(chunk)));
    target.on('data', (chunk: Buffer) => {
      const lost = this.mode === 'lose-answers';
      this.answers[lost ? 'lost' : 'passed'] += 1;
      if (!lost) this.pass(client, chunk);
    });
  }

  /** Keeps the order when the delay changes: each chunk waits for the one before it. */
  private pass(to: Socket, chunk: Buffer): void {
    if (this.muted.has(to)) return;
    const before = this.tails.get(to);
    if (before === undefined && this.delayMs === 0) {
      if (!to.destroyed) to.write(chunk);
      return;
    }
    const delayMs = this.delayMs;
    const mine = Promise.all([before, sleep(delayMs)]).then(() => {
      if (!to.destroyed) to.write(chunk);
      if (this.tails.get(to) === mine) this.tails.delete(to);
    });
    this.tails.set(to, mine);
  }
}
