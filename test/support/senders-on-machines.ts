import type { Certainty } from '../../src/core/profile.js';
import { openLedger, type RealmLedger } from '../../src/ledger/realm-ledger.js';
import { type Argument, ScriptClient } from '../../src/ledger/script-client.js';
import type { TestBatch } from './ledgers-on-redis.js';
import { Clocks, PlayedRealm } from './played-realm.js';
import type { TestRedis } from './redis-server.js';
import { Sender } from './sender-in-process.js';

/** Takes down which scripts were called, in their order. */
class Heard extends ScriptClient {
  readonly scripts: string[] = [];

  override script(name: string, realm: string, args: readonly Argument[]): Promise<unknown> {
    this.scripts.push(name);
    return super.script(name, realm, args);
  }
}

export type Machine = {
  readonly sender: Sender;
  readonly ledger: RealmLedger;
  readonly scripts: readonly string[];
};

/** Senders of one realm, each with a folder and a memory of its own, as on machines of their own. */
export class Machines {
  private readonly clocks = new Clocks();
  readonly realm: PlayedRealm;

  constructor(
    private readonly redis: TestRedis,
    private readonly batch: TestBatch,
    private readonly certainty: Certainty,
  ) {
    const orderOf = (index: number) => batch.row(index).order;
    this.realm = new PlayedRealm(certainty === 'idempotent', orderOf, this.clocks);
  }

  async start(folder: string): Promise<Machine> {
    const scripts = new Heard(this.redis.client(), 10_000, () => {});
    const ledger = openLedger(scripts, this.batch.ledger.realm);
    const { batch, certainty, realm, clocks } = this;
    const sender = await Sender.start(ledger, batch, certainty, folder, realm, clocks);
    return { sender, ledger, scripts: scripts.scripts };
  }
}
