import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ConcurrencyLimit } from '../../core/concurrency-limit.js';
import { counted } from '../../core/counted.js';
import { AlmonerError, isAlmonerError } from '../../core/errors/error.js';
import type { MendSheet } from '../../csv/mend.js';
import type { BatchRef } from '../../ledger/index.js';
import type { PlanReply } from '../api/index.js';

/**
 * Uploaded files on disk, until a person starts or removes them or an hour passes. They are streamed, so that a file
 * of a million rows costs no memory. The next start removes the files of a dead desk. Each person has a limit; at the
 * limit the least recently used file is removed, so that files of closed tabs block no upload.
 */
export type Upload = {
  readonly id: string;
  readonly who: string;
  readonly name: string;
  readonly path: string;
  readonly faultsPath: string;
  readonly bytes: number;
  readonly receivedAt: number;
  /** Lets one plan of this upload run at a time. */
  readonly planning: ConcurrencyLimit;
};

/** A plan that waits for its confirmation. `close` removes its files. */
export type PlannedUpload = {
  readonly document: PlanReply;
  /**
   * A hash of everything that the confirmation covers: rows to pay, rows paid before, earlier addresses, and the
   * state of an existing batch. Two plans with equal hashes would do the same.
   */
  readonly verdict: string;
  /** How the rows are read; null where no header could be found. */
  readonly sheet: MendSheet | null;
  /** Kept columns of this header that a person has to see first. */
  readonly unseen: readonly string[];
  writeFaults(path: string): void;
  enqueue(inOrder: boolean): Promise<{ readonly ref: BatchRef; readonly existing: boolean }>;
  close(): void;
};

const KEEP_MS = 60 * 60 * 1000;
const SWEEP_MS = 60 * 1000;
/**
 * At most this many plans stay in memory between preview and start. An older one is planned again and compared with
 * what was shown.
 */
const PLANS_MAX = 2;

type MakePlan = () => Promise<PlannedUpload>;
type Kept = {
  /** The options of the plan, as text. */
  readonly options: string;
  readonly shown: string;
  readonly sheet: MendSheet | null;
  readonly planned: PlannedUpload | null;
};

/** Keeps the uploaded files and their plans, apart for each person. */
export class Uploads {
  /** In order of last use. */
  private readonly uploads = new Map<string, Upload>();
  private readonly plans = new Map<string, Kept>();
  /** The people whose uploads are arriving now, one entry per upload. */
  private readonly receiving: string[] = [];
  private readonly sweep: NodeJS.Timeout;

  constructor(
    private readonly folder: string,
    private readonly limits: UploadLimits,
  ) {
    this.sweep = setInterval(() => void this.removeOld(), SWEEP_MS).unref();
  }

  async open(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.removeOld();
  }

  /** One person's uploads, the most recently used first. */
  of(who: string): Upload[] {
    return [...this.uploads.values()].filter((upload) => upload.who === who).reverse();
  }

  async receive(body: Readable, name: string, length: number | null, who: string): Promise<Upload> {
    if (length !== null && length > this.limits.bytesMax) throw tooLarge(this.limits);
    const id = randomBytes(16).toString('base64url');
    const path = join(this.folder, `${id}.csv`);
    const watch = new UploadWatch(this.limits);
    this.receiving.push(who);
    try {
      await this.makeRoom(who);
      await pipeline(body, watch, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    } catch (error) {
      await rm(path, { force: true });
      if (isAlmonerError(error)) throw error;
      throw new AlmonerError('ALM_DESK_UPLOAD_BROKEN', 'The upload broke off. Nothing of it was kept.', {
        cause: error,
      });
    } finally {
      this.receiving.splice(this.receiving.indexOf(who), 1);
    }
    const faultsPath = join(this.folder, `${id}.faults.csv`);
    const { bytes } = watch;
    const planning = new ConcurrencyLimit(1);
    const upload = { id, who, name, path, faultsPath, bytes, receivedAt: Date.now(), planning };
    this.uploads.set(id, upload);
    return upload;
  }

  private async makeRoom(who: string): Promise<void> {
    const coming = this.receiving.filter((one) => one === who).length;
    if (coming > this.limits.filesMax)
      throw new AlmonerError(
        'ALM_DESK_BUSY',
        `${counted(coming - 1, 'file of yours is', 'files of yours are')} being uploaded already. This one was not taken.`,
      );
    for (const { id } of this.of(who).slice(this.limits.filesMax - coming)) await this.remove(id);
  }

  /** Finds a person's own upload. Another person's is reported as missing. */
  find(id: string, who: string): Upload {
    const upload = this.uploads.get(id);
    if (upload?.who !== who)
      throw new AlmonerError('ALM_DESK_UPLOAD_UNKNOWN', 'There is no such upload. Nothing was done.');
    return upload;
  }

  /** Finds an upload and makes it the most recently used one. */
  use(id: string, who: string): Upload {
    const upload = this.find(id, who);
    this.uploads.delete(id);
    this.uploads.set(id, upload);
    return upload;
  }

  /** How the rows were read when the file was last shown. */
  sheetOf({ id }: Upload): MendSheet {
    const sheet = this.plans.get(id)?.sheet ?? null;
    if (sheet !== null) return sheet;
    throw new AlmonerError(
      'ALM_FILE_MEND',
      'The rows of the file were not looked at yet. Nothing was changed.',
    );
  }

  /** Plans anew for display, because the person may have changed something since the last plan. */
  preview(upload: Upload, options: string, make: MakePlan): Promise<PlannedUpload> {
    return upload.planning.through(() => {
      this.letGo(upload.id);
      return this.made(upload, options, make);
    });
  }

  /**
   * Returns the plan that was shown, made again where memory dropped it, and whether it still equals the shown one.
   */
  planned(
    upload: Upload,
    options: string,
    make: MakePlan,
  ): Promise<{ readonly planned: PlannedUpload; readonly asShown: boolean }> {
    return upload.planning.through(async () => {
      const kept = this.plans.get(upload.id);
      if (kept !== undefined && kept.options !== options)
        throw new AlmonerError(
          'ALM_DESK_CHANGED',
          'The file was shown with other switches than these. Nothing was enqueued.',
        );
      const { planned: held = null, shown } = kept ?? {};
      if (held !== null) return { planned: held, asShown: held.verdict === shown };
      const planned = await this.made(upload, options, make, shown);
      return { planned, asShown: planned.verdict === (shown ?? planned.verdict) };
    });
  }

  /** Closes a plan whose upload was removed meanwhile, so that it leaves no open file. */
  private async made(
    { id, who }: Upload,
    options: string,
    make: MakePlan,
    shown?: string,
  ): Promise<PlannedUpload> {
    const { faultsPath } = this.use(id, who);
    const planned = await make().catch((error: unknown) => {
      // An upload removed during the work explains any failure, so that this error is reported instead.
      this.find(id, who);
      throw error;
    });
    try {
      this.find(id, who);
      planned.writeFaults(faultsPath);
    } catch (error) {
      planned.close();
      throw error;
    }
    this.plans.delete(id);
    this.plans.set(id, { options, shown: shown ?? planned.verdict, sheet: planned.sheet, planned });
    const held = [...this.plans].filter(([, kept]) => kept.planned !== null);
    for (const [old] of held.slice(0, -PLANS_MAX)) this.letGo(old);
    return planned;
  }

  private letGo(id: string): void {
    const kept = this.plans.get(id);
    kept?.planned?.close();
    if (kept !== undefined) this.plans.set(id, { ...kept, planned: null });
  }

  async remove(id: string): Promise<void> {
    const upload = this.uploads.get(id);
    this.uploads.delete(id);
    this.letGo(id);
    this.plans.delete(id);
    if (upload === undefined) return;
    await rm(upload.path, { force: true });
    await rm(upload.faultsPath, { force: true });
  }

  async close(): Promise<void> {
    clearInterval(this.sweep);
    for (const id of [...this.uploads.keys()]) await this.remove(id);
  }

  private async removeOld(): Promise<void> {
    const before = Date.now() - KEEP_MS;
    for (const { id, receivedAt } of [...this.uploads.values()])
      if (receivedAt < before) await this.remove(id);
    for (const file of await readdir(this.folder).catch(() => [])) {
      const path = join(this.folder, file);
      const age = await stat(path).catch(() => null);
      // Another desk may share the folder, so that only old files are removed.
      if (age !== null && age.mtimeMs < before) await rm(path, { force: true });
    }
  }
}

export type UploadLimits = {
  readonly bytesMax: number;
  /** At most this many files per person. */
  readonly filesMax: number;
  /** An upload ends after this time without a byte. */
  readonly idleMs: number;
  /**
   * The lowest average speed after a first grace of `idleMs`. It ends an upload that sends a byte now and then to
   * hold its connection.
   */
  readonly bytesPerSecondMin: number;
};

/** The limits of uploads per file and per person. */
export const UPLOAD_LIMITS: UploadLimits = {
  bytesMax: 512 * 2 ** 20,
  filesMax: 8,
  idleMs: 15_000,
  bytesPerSecondMin: 1024,
};

/** Counts the bytes and aborts an upload that is too large or too slow. */
class UploadWatch extends Transform {
  bytes = 0;
  private readonly startedAt = performance.now();
  private lastAt = this.startedAt;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly limits: UploadLimits) {
    super();
    this.timer = setInterval(() => this.check(), Math.min(1000, limits.idleMs / 4)).unref();
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    this.lastAt = performance.now();
    if (this.bytes <= this.limits.bytesMax) done(null, chunk);
    else done(tooLarge(this.limits));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.timer);
    done(error);
  }

  private check(): void {
    const now = performance.now();
    const idle = now - this.lastAt > this.limits.idleMs;
    const elapsed = now - this.startedAt;
    const slow =
      elapsed > this.limits.idleMs && this.bytes < (elapsed / 1000) * this.limits.bytesPerSecondMin;
    if (idle || slow)
      this.destroy(
        new AlmonerError('ALM_DESK_UPLOAD_BROKEN', 'The upload came too slowly. Nothing of it was kept.'),
      );
  }
}

function tooLarge({ bytesMax }: UploadLimits): AlmonerError {
  const size = bytesMax >= 2 ** 20 ? `${Math.floor(bytesMax / 2 ** 20)} MiB` : `${bytesMax} bytes`;
  return new AlmonerError(
    'ALM_DESK_UPLOAD_TOO_LARGE',
    `The file is larger than the ${size} that the desk takes. Nothing of it was kept.`,
  );
}
