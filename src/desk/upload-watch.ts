import { Transform, type TransformCallback } from 'node:stream';
import { AlmonerError } from '../core/errors/error.js';

export type UploadLimits = {
  readonly bytesMax: number;
  readonly filesMax: number;
  /** Without a byte for so long the upload is over. */
  readonly idleMs: number;
  /** After a first grace of `idleMs` the average must not fall below this: a byte now and then is an attack. */
  readonly bytesPerSecondMin: number;
};

export const UPLOAD_LIMITS: UploadLimits = {
  bytesMax: 512 * 2 ** 20,
  filesMax: 16,
  idleMs: 15_000,
  bytesPerSecondMin: 1024,
};

/** Counts what passes and breaks off what is too large or too slow. */
export class UploadWatch extends Transform {
  bytes = 0;
  private readonly startedAt = performance.now();
  private lastAt = this.startedAt;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly limits: UploadLimits) {
    super();
    this.timer = setInterval(() => this.check(), Math.min(1000, limits.idleMs / 4));
    this.timer.unref();
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

export function tooLarge({ bytesMax }: UploadLimits): AlmonerError {
  const size = bytesMax >= 2 ** 20 ? `${Math.floor(bytesMax / 2 ** 20)} MiB` : `${bytesMax} bytes`;
  return new AlmonerError(
    'ALM_DESK_UPLOAD_TOO_LARGE',
    `The file is larger than the ${size} that the desk takes. Nothing of it was kept.`,
  );
}
