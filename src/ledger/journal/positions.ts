import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { askRealm, type RealmLedger } from '../realm-ledger.js';
import { writeNote } from './folder.js';
import { parseJson } from './line.js';

/**
 * How far each realm's ledger had come, as the sessions of a data folder saw it. Every session keeps the same note twice:
 *
 *   <data folder>/journal/<session>.position        beside the journals
 *   <state folder>/<number of the folder>/<session>.position   the witness, outside the data folder
 *
 * A data folder that is put back with its journals brings back its older notes, and the witness keeps the newer ones.
 * The session writes the note beside the journals first, so a witness never knows more than an intact folder.
 *
 * A store outside the data folder is told the same, and is a witness as well.
 *
 * The first note of a session is durable before its first request leaves. Later notes follow within WRITE_EVERY_MS, and
 * one more when the session ends. A backup is older than the witness unless almoner was killed within that time.
 */
const position = z.object({
  realm: z.object({ name: z.string(), baseUrl: z.string(), realmId: z.string() }),
  era: z.string(),
  seq: z.number(),
  /** For people. No decision rests on it. */
  at: z.number(),
});
export type Position = Readonly<z.infer<typeof position>>;

const note = z.object({
  /** The path of the data folder, for people. */
  folder: z.string(),
  ended: z.boolean(),
  /** By the key of the realm's ledger. */
  positions: z.record(z.string(), position),
});
type Note = Readonly<z.infer<typeof note>>;
type Positions = Readonly<Record<string, Position>>;

const NAME = /^([0-9a-f]{12})\.position$/;
const WRITE_EVERY_MS = 1_000;

/**
 * The notes of one folder by session. A note that cannot be read says nothing. One that vanishes between the list and the
 * read was taken over by another session, perhaps after its own note was read here: the folder is read again.
 */
async function readNotes(folder: string): Promise<Map<string, Note>> {
  for (;;) {
    const names = await readdir(folder).catch(() => []);
    const notes = new Map<string, Note>();
    let isWhole = true;
    for (const name of names) {
      const session = NAME.exec(name)?.[1];
      if (session === undefined) continue;
      const text = await readFile(join(folder, name), 'utf8').catch(() => null);
      isWhole &&= text !== null || existsSync(join(folder, name));
      const found = note.safeParse(parseJson(text ?? ''));
      if (found.success) notes.set(session, found.data);
    }
    if (isWhole) return notes;
  }
}

/** The highest position of each realm that a folder's notes know. */
export async function readPositions(folder: string): Promise<Positions> {
  return [...(await readNotes(folder)).values()].reduce<Positions>(
    (all, { positions }) => further(all, positions),
    {},
  );
}

/** The last epoch of the realm that a folder's notes know; empty for none. */
export async function lastEra(folder: string, realm: string): Promise<string> {
  return (await readPositions(folder))[realm]?.era ?? '';
}

/**
 * The highest positions that this machine has witnessed of a data folder. `path`: and of folders that were at this path
 * before it, which an emptied or replaced folder does not know by their number; null where they had stores of their own.
 */
export async function witnessedPositions(
  stateFolder: string,
  number: string,
  path: string | null,
): Promise<Positions> {
  let all = await readPositions(join(stateFolder, number));
  const numbers = path === null ? [] : await readdir(stateFolder).catch(() => []);
  for (const other of numbers)
    for (const { folder, positions } of (await readNotes(join(stateFolder, other))).values())
      if (folder === path) all = further(all, positions);
  return all;
}

/**
 * The highest position of a ledger that this machine has witnessed of a store that was written in another folder, among the
 * folders and epochs that are meant.
 */
export async function witnessedElsewhere(
  stateFolder: string,
  keyPrefix: string,
  isMeant: (folder: string, era: string) => boolean,
): Promise<Position | null> {
  let found: Position | null = null;
  for (const number of await readdir(stateFolder).catch(() => []))
    for (const { folder, positions } of (await readNotes(join(stateFolder, number))).values()) {
      const one = positions[keyPrefix];
      if (one === undefined || !isMeant(folder, one.era)) continue;
      if (one.seq > (found?.seq ?? 0)) found = one;
    }
  return found;
}

/** The position that a store outside the data folder remembers of it; null where it knows none. */
export async function positionInStore(ledger: RealmLedger, number: string): Promise<Position | null> {
  if (ledger.scripts.here.holdsStore) return null;
  const text = await askRealm(ledger, 'read position', (redis, T) => redis.hget(`${T}:folders`, number));
  return position.safeParse(parseJson(text ?? '')).data ?? null;
}

export type PaidElsewhere = { readonly folder: string; readonly at: number };

/** The data folders, by their numbers, from which this machine has sent orders of the realm. */
export async function foldersThatPaid(
  stateFolder: string,
  keyPrefix: string,
): Promise<Map<string, PaidElsewhere & { readonly seq: number }>> {
  const found = new Map<string, PaidElsewhere & { readonly seq: number }>();
  for (const number of await readdir(stateFolder).catch(() => []))
    for (const { folder, positions } of (await readNotes(join(stateFolder, number))).values()) {
      const { seq = 0, at = 0 } = positions[keyPrefix] ?? {};
      if (seq > (found.get(number)?.seq ?? 0)) found.set(number, { folder, seq, at });
    }
  return found;
}

function further(a: Positions, b: Positions): Positions {
  const both: Record<string, Position> = { ...a };
  for (const [realm, one] of Object.entries(b)) if (one.seq >= (both[realm]?.seq ?? 0)) both[realm] = one;
  return both;
}

type Places = {
  readonly session: string;
  readonly dataFolder: string;
  readonly journals: string;
  /** Empty for a folder without an identity. */
  readonly number: string;
  /** Null where there is none; one that cannot be written stops no payment. */
  readonly witness: string | null;
  readonly isDead: (session: string) => Promise<boolean>;
};

/** The notes of one session. One process writes them, so nothing needs a lock. */
export class PositionNotes {
  private seen: Positions = {};
  private readonly ledgers = new Map<string, RealmLedger>();
  private readonly kept = new Map<string, Positions>();
  private readonly begun = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private ended = false;

  constructor(private readonly places: Places) {}

  /** The session has seen the ledger at this sequence. */
  saw(ledger: RealmLedger, seq: number): void {
    const { keyPrefix, realm, mark } = ledger;
    // A rehearsal moves no points.
    if (realm.rehearsal || seq === 0) return;
    const { name, baseUrl, realmId } = realm;
    const now = { realm: { name, baseUrl, realmId }, era: mark.era, seq, at: Date.now() };
    const before = this.seen[keyPrefix]?.seq ?? 0;
    this.seen = further(this.seen, { [keyPrefix]: now });
    this.ledgers.set(keyPrefix, ledger);
    if (seq > before && !this.ended)
      this.timer ??= setTimeout(() => void this.write(), WRITE_EVERY_MS).unref();
  }

  /** The same before a request leaves: the first requests of each realm wait until the note is durable. */
  async sends(ledger: RealmLedger, seq: number): Promise<void> {
    this.saw(ledger, seq);
    const { keyPrefix, realm } = ledger;
    const first = this.begun.get(keyPrefix) ?? (realm.rehearsal ? Promise.resolve() : this.write());
    this.begun.set(keyPrefix, first);
    await first;
  }

  async end(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    if (Object.keys(this.seen).length > 0) await this.write();
  }

  private write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(async () => {
      const { journals, witness } = this.places;
      // One position for all three, however far the session comes meanwhile: the folder never knows less than the others.
      const { seen } = this;
      // In this order: see above. The journal itself says that its disk takes nothing more.
      if (!(await this.writeTo(journals, seen))) return;
      if (witness !== null) await this.writeTo(witness, seen);
      for (const ledger of this.ledgers.values()) this.tellStore(ledger, seen);
    });
    return this.writing;
  }

  /** Nobody waits for it: a store that is away knows less until the next note. */
  private tellStore({ keyPrefix, scripts }: RealmLedger, seen: Positions): void {
    const { number } = this.places;
    const position = seen[keyPrefix];
    if (position === undefined || number === '' || scripts.here.holdsStore) return;
    const args = [number, position.seq, JSON.stringify(position)];
    scripts.aside(scripts.script('note-position', keyPrefix, args));
  }

  private async writeTo(folder: string, seen: Positions): Promise<boolean> {
    const { session, dataFolder } = this.places;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const taken = this.kept.has(folder) ? [] : await this.takeOver(folder);
      const positions = further(this.kept.get(folder) ?? {}, seen);
      await writeNote(folder, `${session}.position`, { folder: dataFolder, ended: this.ended, positions });
      for (const other of taken) await rm(join(folder, `${other}.position`), { force: true });
      return true;
    } catch {
      return false;
    }
  }

  /** The first note takes over the notes of ended sessions, which do not change any more, so that they do not pile up. */
  private async takeOver(folder: string): Promise<string[]> {
    const taken: string[] = [];
    let positions: Positions = {};
    for (const [session, { ended, positions: more }] of await readNotes(folder)) {
      if (session === this.places.session || !(ended || (await this.places.isDead(session)))) continue;
      taken.push(session);
      positions = further(positions, more);
    }
    this.kept.set(folder, positions);
    return taken;
  }
}

/** Beside the notes of sessions: the data folder's journals (see session.ts). */
const NOTES = 'journal';

/**
 * A person paused, cancelled or resumed a batch, or withdrew approvals. No journal records that, so a store that is put back
 * has forgotten it, and a worker would pay what was cancelled. The position that the ledger has now is noted beside the
 * journals before the command reports success: recovery on this machine then finds that the store is behind.
 *
 * The witness and the store are told only what sending sessions saw: a folder from which nothing was sent must be neither
 * waited for nor taken for another ledger from which the realm was paid.
 */
export async function noteAct(ledger: RealmLedger): Promise<void> {
  const { folder } = ledger.scripts.here;
  if (folder === null || ledger.realm.rehearsal) return;
  const [era, seq] = await askRealm(ledger, 'read position', (redis, T) => redis.hmget(T, 'era', 'seq'));
  const own = await ledger.scripts.here.ownFolder();
  const witness = own?.witness ?? null;
  const hasSent = witness !== null && (await readPositions(witness))[ledger.keyPrefix] !== undefined;
  const notes = new PositionNotes({
    session: randomBytes(6).toString('hex'),
    dataFolder: folder,
    journals: join(folder, NOTES),
    number: '',
    witness: hasSent ? witness : null,
    // Sessions take over the notes of the dead. This one takes over those that have ended.
    isDead: () => Promise.resolve(false),
  });
  notes.saw({ ...ledger, mark: { ...ledger.mark, era: era ?? '' } }, Number(seq ?? 0));
  await notes.end();
}
