import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { AlmonerError, messageOf } from '../../core/errors/error.js';
import { syncFolder } from '../sync-folder.js';
import { encodeEntry, type Intent, type JournalHead, type JournalResult } from './line.js';

/**
 * What this process is about to send and what came of it, on its own disk: the memory that survives a
 * store which forgot. A session's journal is a row of files, `<session>.<n>.journal`.
 *
 * Group commit: one write and one fdatasync are under way at a time; every intent that arrives meanwhile
 * joins the next. An intent is durable when its promise resolves, and nothing is sent before. A result is
 * written with the next group or a moment later, and waits for no fsync: it is needed only where the store
 * forgets as well, and without it the intent makes the order unknown and never wrong.
 *
 * A write or fsync that failed is final. The kernel may have thrown the pages away and report success the
 * next time, so nothing is tried again: every intent is refused from then on, and `onFailure` ends the process.
 */
export const JOURNAL_LIMITS = {
  /** A file larger than this is followed by a new one. */
  fileBytesMax: 4 * 1024 * 1024,
  /** The whole folder; older files of ended sessions go first. */
  folderBytesMax: 64 * 1024 * 1024,
};
export type JournalLimits = Readonly<typeof JOURNAL_LIMITS>;

/** How long a result waits for an intent to ride along with. */
const RESULT_PATIENCE_MS = 10;

type Waiter = { resolve(): void; reject(error: AlmonerError): void };

/** A line to write, and the intent that it opens. */
type Line = { readonly text: string; readonly opens: string | null };

type JournalOptions = {
  readonly folder: string;
  readonly head: JournalHead;
  readonly limits?: JournalLimits;
  readonly onFailure: (error: AlmonerError) => void;
  /** After a new file was begun: the moment to bound the folder. */
  readonly onRotated?: () => Promise<unknown>;
  /** After an intent is durable, and before anything is sent for it. */
  readonly onIntent?: (realm: string, seq: number) => Promise<void>;
};

export class Journal {
  private pending: Line[] = [];
  /** Intents that the ledger has not settled yet, and the number of the file that holds each. */
  private readonly open = new Map<string, number>();
  /** The sequence by which the ledger had settled what a file holds of a realm, by number and realm. */
  private readonly known = new Map<string, number>();
  private waiters: Waiter[] = [];
  private flushing: Promise<void> | undefined;
  private patience: NodeJS.Timeout | undefined;
  private broken: AlmonerError | undefined;
  private closed = false;
  private bytes = 0;
  private number = 1;
  private began = false;
  private readonly realms = new Set<string>();

  private constructor(
    private readonly options: JournalOptions,
    private file: FileHandle,
  ) {}

  get folder(): string {
    return this.options.folder;
  }

  static async open(options: JournalOptions): Promise<Journal> {
    const { folder, head } = options;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = fileName(folder, head.session, 1);
      const file = await begin(folder, path, head);
      return new Journal(options, file);
    } catch (error) {
      throw failure(error, 'Nothing was sent.');
    }
  }

  /** Resolves when the intent is on disk; rejects once the journal has failed. */
  async intent(intent: Intent): Promise<void> {
    await this.durably(encodeEntry({ kind: 'intent', intent }), intent.nonce);
    await this.options.onIntent?.(intent.realm, intent.seq);
  }

  /** The ledger has settled the attempt by this sequence: nothing depends on its intent but a store that forgets again. */
  settled(nonce: string, realm: string, seq: number): void {
    const place = `${this.open.get(nonce)} ${realm}`;
    if (this.open.delete(nonce)) this.known.set(place, Math.max(this.known.get(place) ?? 0, seq));
  }

  /** The sequence by which the ledger had settled all that a file holds of a realm; 0 where it holds nothing of it. */
  knownBy(number: number, realm: string): number {
    return this.known.get(`${number} ${realm}`) ?? 0;
  }

  /** Whether a file of this journal holds an intent that the ledger has not settled, or is being written. */
  isOpen(number: number): boolean {
    return number >= this.number || [...this.open.values()].includes(number);
  }

  /** Whether anything was ever about to be sent. */
  get isEmpty(): boolean {
    return !this.began;
  }

  /** Durable before the session is registered: a registry that is rolled back cannot hide it. */
  works(realm: string): Promise<void> {
    if (this.realms.has(realm)) return Promise.resolve();
    this.realms.add(realm);
    return this.durably(encodeEntry({ kind: 'works', realm }));
  }

  /** Durable before the registry is told: whoever finds the journal then need not wait for this session. */
  leaves(realm: string): Promise<void> {
    if (!this.realms.delete(realm) || this.broken !== undefined) return Promise.resolve();
    return this.durably(encodeEntry({ kind: 'leaves', realm }));
  }

  result(result: JournalResult): void {
    this.append(encodeEntry({ kind: 'result', result }));
  }

  unsent(nonce: string): void {
    this.append(encodeEntry({ kind: 'unsent', nonce }));
  }

  /** Everything appended so far is written (not necessarily fsynced), so that it can be read back. */
  async written(): Promise<void> {
    while (this.broken === undefined && (this.pending.length > 0 || this.flushing !== undefined))
      await (this.flushing ?? this.flush());
  }

  /** The file stays: a store that is rolled back may register this session once more. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.append(encodeEntry({ kind: 'end' }));
    await this.written();
    if (this.broken === undefined) await this.file.datasync().catch(() => {});
    await this.file.close().catch(() => {});
  }

  private durably(text: string, opens: string | null = null): Promise<void> {
    if (this.broken !== undefined) return Promise.reject(this.broken);
    this.began ||= opens !== null;
    return new Promise((resolve, reject) => {
      this.append(text, { resolve, reject }, opens);
    });
  }

  private append(text: string, waiter?: Waiter, opens: string | null = null): void {
    if (this.broken !== undefined) return;
    this.pending.push({ text, opens });
    if (waiter !== undefined) this.waiters.push(waiter);
    if (this.flushing !== undefined) return;
    if (waiter !== undefined) void this.flush();
    else this.patience ??= setTimeout(() => void (this.flushing ?? this.flush()), RESULT_PATIENCE_MS);
  }

  private flush(): Promise<void> {
    clearTimeout(this.patience);
    this.patience = undefined;
    this.flushing = this.flushAll();
    return this.flushing;
  }

  private async flushAll(): Promise<void> {
    // One turn of the event loop lets everything that became ready together share one fsync.
    await new Promise((resolve) => setImmediate(resolve));
    let waiting: Waiter[] = [];
    try {
      while (this.pending.length > 0) {
        const bytes = Buffer.from(this.pending.map(({ text }) => text).join(''), 'utf8');
        for (const { opens } of this.pending) if (opens !== null) this.open.set(opens, this.number);
        waiting = this.waiters;
        this.pending = [];
        this.waiters = [];
        await writeWhole(this.file, bytes);
        if (waiting.length > 0) await this.file.datasync();
        this.bytes += bytes.length;
        for (const { resolve } of waiting) resolve();
        waiting = [];
        const { limits = JOURNAL_LIMITS } = this.options;
        if (this.bytes > limits.fileBytesMax) await this.rotate();
      }
    } catch (error) {
      this.broken = failure(error, 'Nothing more is sent by this process.');
      for (const { reject } of [...waiting, ...this.waiters]) reject(this.broken);
      this.pending = [];
      this.waiters = [];
      this.options.onFailure(this.broken);
    }
    // In the same turn in which `pending` was seen empty: the next append begins a new flush.
    this.flushing = undefined;
  }

  private async rotate(): Promise<void> {
    this.number += 1;
    const { folder, head } = this.options;
    const path = fileName(folder, head.session, this.number);
    const next = await begin(folder, path, head, this.realms);
    await writeWhole(this.file, Buffer.from(encodeEntry({ kind: 'continues', number: this.number }), 'utf8'));
    await this.file.datasync();
    await this.file.close();
    this.file = next;
    this.bytes = 0;
    // A folder that cannot be tidied is no reason to stop paying; the next rotation tries again.
    await this.options.onRotated?.().catch(() => {});
  }
}

export function fileName(folder: string, session: string, number: number): string {
  return join(folder, `${session}.${number}.journal`);
}

/** The file and its name in the folder are durable before anything depends on them. */
async function begin(
  folder: string,
  path: string,
  head: JournalHead,
  realms: Iterable<string> = [],
): Promise<FileHandle> {
  const file = await open(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND,
    0o600,
  );
  const lines = [
    encodeEntry({ kind: 'head', head }),
    ...[...realms].map((realm) => encodeEntry({ kind: 'works', realm })),
  ];
  try {
    await writeWhole(file, Buffer.from(lines.join(''), 'utf8'));
    await file.datasync();
    await syncFolder(folder);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** A full disk may take half a line before it refuses the rest. */
async function writeWhole(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, offset);
    offset += bytesWritten;
  }
}

function failure(error: unknown, consequence: string): AlmonerError {
  return new AlmonerError(
    'ALM_LEDGER_JOURNAL_FAILED',
    `The journal cannot be written (${messageOf(error)}). ${consequence}`,
    { cause: error },
  );
}
