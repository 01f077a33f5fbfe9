import { Redis } from 'ioredis';

/**
 * A client whose commands of one moment leave in one write. ioredis writes each command by itself, and with
 * sixty orders under way the system calls cost more than the commands. Nothing else changes: every command
 * still has its own reply, its own error and its own fate when the connection breaks, which is why this is
 * not a pipeline.
 */
export class SharingRedis extends Redis {
  private corked = false;

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const { stream } = this;
    // A second argument is somebody's pipeline, which collects by itself.
    if (args[1] === undefined && !this.corked && stream?.writable) {
      this.corked = true;
      stream.cork();
      process.nextTick(() => {
        this.corked = false;
        stream.uncork();
      });
    }
    return super.sendCommand(...args);
  }
}
