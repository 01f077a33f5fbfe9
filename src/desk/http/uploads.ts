import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AlmonerError, isAlmonerError } from '../../core/errors/error.js';
import { Line } from '../../core/line.js';
import type { PlannedUpload } from '../deps.js';
import { tooLarge, type UploadLimits, UploadWatch } from './connections.js';

/**
 * Files that people upload, on disk until they are started, thrown away, or an hour old. They are streamed,
 * so that a file of a million rows costs no memory; what a dead desk left behind goes at the next start.
 */
export type Upload = {
  readonly id: string;
  readonly name: string;
  readonly who: string;
  readonly path: string;
  readonly faultsPath: string;
  readonly bytes: number;
  readonly receivedAt: number;
  /** One plan of it is made at a time. */
  readonly planning: Line;
};

const KEEP_MS = 60 * 60 * 1000;
const SWEEP_MS = 60 * 1000;
/** Plans held in memory between preview and start; an older one is made again, and held to what the first showed. */
const PLANS_MAX = 2;

/** What is planned: the switches as text, and for whom. */
export type PlanOf = { readonly options: string; readonly who: string };
type MakePlan = () => Promise<PlannedUpload>;
type Kept = PlanOf & { readonly shown: string; readonly planned: PlannedUpload | null };

export class Uploads {
  private readonly uploads = new Map<string, Upload>();
  private readonly plans = new Map<string, Kept>();
  private receiving = 0;
  private readonly sweep: NodeJS.Timeout;

  constructor(
    private readonly folder: string,
    private readonly limits: UploadLimits,
  ) {
    this.sweep = setInterval(() => void this.removeOld(), SWEEP_MS);
    this.sweep.unref();
  }

  async open(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.removeOld();
  }

  async receive(body: Readable, told: { name: string; who: string; length: number | null }): Promise<Upload> {
    if (told.length !== null && told.length > this.limits.bytesMax) throw tooLarge(this.limits);
    if (this.uploads.size + this.receiving >= this.limits.filesMax)
      throw new AlmonerError(
        'ALM_DESK_UPLOAD_TOO_LARGE',
        `${this.limits.filesMax} uploaded files wait already. This one was not taken.`,
        { next: 'Start or throw away the others first.' },
      );
    const id = randomBytes(16).toString('base64url');
    const path = join(this.folder, `${id}.csv`);
    const watch = new UploadWatch(this.limits);
    this.receiving += 1;
    try {
      await pipeline(body, watch, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    } catch (error) {
      await rm(path, { force: true });
      if (isAlmonerError(error)) throw error;
      throw new AlmonerError('ALM_DESK_UPLOAD_BROKEN', 'The upload broke off. Nothing of it was kept.', {
        cause: error,
      });
    } finally {
      this.receiving -= 1;
    }
    const faultsPath = join(this.folder, `${id}.faults.csv`);
    const { name, who } = told;
    const { bytes } = watch;
    const planning = new Line(1);
    const upload = { id, name, who, path, faultsPath, bytes, receivedAt: Date.now(), planning };
    this.uploads.set(id, upload);
    return upload;
  }

  find(id: string): Upload {
    const upload = this.uploads.get(id);
    if (upload === undefined)
      throw new AlmonerError('ALM_DESK_UPLOAD_UNKNOWN', 'There is no such upload. Nothing was done.');
    return upload;
  }

  /** A new plan, to be shown: the person may have mended something since the last one. */
  preview(upload: Upload, of: PlanOf, make: MakePlan): Promise<PlannedUpload> {
    return upload.planning.through(() => {
      this.letGo(upload.id);
      return this.made(upload, of, make);
    });
  }

  /** The plan that was shown, made again where it was let go; and whether it still is what was shown. */
  planned(
    upload: Upload,
    of: PlanOf,
    make: MakePlan,
  ): Promise<{ readonly planned: PlannedUpload; readonly asShown: boolean }> {
    return upload.planning.through(async () => {
      const { options = of.options, who, shown, planned: held } = this.plans.get(upload.id) ?? {};
      if (options !== of.options)
        throw new AlmonerError(
          'ALM_DESK_CHANGED',
          'The file was shown with other switches than these. Nothing was enqueued.',
        );
      if (held && who === of.who) return { planned: held, asShown: held.verdict === shown };
      this.letGo(upload.id);
      const planned = await this.made(upload, of, make, shown);
      return { planned, asShown: planned.verdict === (shown ?? planned.verdict) };
    });
  }

  /** Nothing stays, open or on disk, of a plan whose upload went meanwhile. */
  private async made(upload: Upload, of: PlanOf, make: MakePlan, shown?: string): Promise<PlannedUpload> {
    const { id, faultsPath } = this.find(upload.id);
    const planned = await make();
    try {
      this.find(id);
      planned.writeFaults(faultsPath);
    } catch (error) {
      planned.close();
      throw error;
    }
    this.plans.delete(id);
    this.plans.set(id, { ...of, shown: shown ?? planned.verdict, planned });
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
      // Files of another desk in the same folder are left alone until they are old.
      if (age !== null && age.mtimeMs < before) await rm(path, { force: true });
    }
  }
}
