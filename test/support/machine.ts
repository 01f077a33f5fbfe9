import type { Certainty } from '../../src/core/profile.js';
import { type Books, openBooks } from '../../src/ledger/books.js';
import { type Argument, Caller, type ScriptName } from '../../src/ledger/caller.js';
import type { TestBatch } from './ledger.js';
import { Clocks, Realm } from './little-realm.js';
import { Sender } from './little-world.js';
import type { TestRedis } from './redis-server.js';

/** Takes down which scripts were called, in their order. */
class Heard extends Caller {
  readonly scripts: ScriptName[] = [];

  override script(name: ScriptName, realm: string, args: readonly Argument[]): Promise<unknown> {
    this.scripts.push(name);
    return super.script(name, realm, args);
  }
}

export type Machine = {
  readonly sender: Sender;
  readonly books: Books;
  readonly scripts: readonly ScriptName[];
};

/** Senders of one realm, each with a folder and a memory of its own, as on machines of their own. */
export class Machines {
  private readonly clocks = new Clocks();
  readonly realm: Realm;

  constructor(
    private readonly redis: TestRedis,
    private readonly batch: TestBatch,
    private readonly certainty: Certainty,
  ) {
    const orderOf = (index: number) => batch.row(index).order;
    this.realm = new Realm(certainty === 'idempotent', orderOf, this.clocks);
  }

  async start(folder: string): Promise<Machine> {
    const caller = new Heard(this.redis.client(), 10_000, () => {});
    const books = openBooks(caller, this.batch.books.owner);
    const { batch, certainty, realm, clocks } = this;
    const sender = await Sender.start(books, batch, certainty, folder, realm, clocks);
    return { sender, books, scripts: caller.scripts };
  }
}
