import type { Redis } from 'ioredis';

/** Counts the commands that a connection sends. */
export function countedCalls(redis: Redis): { take(): number; end(): void } {
  let count = 0;
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (...args: Parameters<typeof send>) => {
    count += 1;
    return send(...args);
  };
  return {
    take() {
      const taken = count;
      count = 0;
      return taken;
    },
    end() {
      redis.sendCommand = send;
    },
  };
}
