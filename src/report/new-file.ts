import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AlmonerError } from '../core/errors/error.js';
import { hasCode, onDisk, WholeFile } from './whole-file.js';

/**
 * One file that a person asked for, at a place of their choice. It appears whole or not at all, and never
 * takes the place of another: an undo file that was already run must not be confused with a newer one.
 */
export class NewFile {
  private constructor(
    readonly path: string,
    private readonly partial: WholeFile,
  ) {}

  static async begin(path: string): Promise<NewFile> {
    // Asked first only to tell at once; `publish` is what makes it certain.
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) throw exists(path);
    const name = `.${basename(path)}.${randomBytes(6).toString('hex')}.partial`;
    return new NewFile(path, await WholeFile.create(name, join(dirname(path), name)));
  }

  add(text: string): Promise<void> | undefined {
    return this.partial.add(text);
  }

  async publish(): Promise<void> {
    await this.partial.finish();
    try {
      await onDisk(this.path, () => this.#appear());
    } finally {
      await rm(this.partial.path, { force: true });
    }
  }

  async discard(): Promise<void> {
    await this.partial.abandon();
    await rm(this.partial.path, { force: true });
  }

  /** Unlike a rename, a link refuses a name that is taken; some file systems know no links. */
  async #appear(): Promise<void> {
    try {
      await link(this.partial.path, this.path).catch(async (error: unknown) => {
        if (hasCode(error, 'EEXIST')) throw error;
        await copyFile(this.partial.path, this.path, constants.COPYFILE_EXCL);
      });
    } catch (error) {
      throw hasCode(error, 'EEXIST') ? exists(this.path) : error;
    }
  }
}

function exists(path: string): AlmonerError {
  return new AlmonerError(
    'ALM_BATCH_FILE_EXISTS',
    `${path} exists already and was not touched. Nothing was written.`,
  );
}
