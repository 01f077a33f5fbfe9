import type { ErrorEntry } from './entry.js';

/** Redis: the embedded one and outside ones. */
export const STORE_ERRORS = {
  ALM_STORE_UNREACHABLE: {
    means: 'Redis does not answer.',
    next: 'Check REDIS_URL and that the server runs; `almoner doctor` tells more.',
    exit: 5,
  },
  ALM_STORE_DENIED: {
    means: 'Redis answers, but refuses the user or password.',
    next: 'Put the right user and password into REDIS_URL (percent-encoded), e.g. rediss://user:password@host:6379/0.',
    exit: 2,
  },
  ALM_STORE_NO_SERVER: {
    means: 'The embedded store needs redis-server or valkey-server, and neither was found.',
    next: 'Install one (Debian, Ubuntu: `sudo apt-get install redis-server`; macOS: `brew install redis`), or run `docker compose up`, or set REDIS_URL to a Redis you have.',
    exit: 2,
  },
  ALM_STORE_FOLDER: {
    means: 'The data folder cannot be used for the embedded store.',
    next: 'Make the folder writable for this user, or choose another one with ALMONER_DATA.',
    exit: 2,
  },
  ALM_STORE_PORT_TAKEN: {
    means: 'Another program holds the loopback port that belongs to this data folder.',
    next: 'End that program; or, while it runs, remove the file `redis/port` in the data folder so that a new port is chosen.',
    exit: 5,
  },
  ALM_STORE_START_FAILED: {
    means: 'The embedded redis-server did not start.',
    next: 'Read `redis/server.log` in the data folder; the usual causes are a full disk and a folder owned by another user.',
    exit: 5,
  },
  ALM_STORE_DAMAGED: {
    means: 'The append-only file of the embedded store is damaged, and redis-server refuses to load it.',
    next: 'Copy the folder `redis` first, then run `redis-check-aof --fix` on the file ending in `.manifest` there, then `almoner recover`.',
    exit: 5,
  },
  ALM_STORE_NOT_APPEND_ONLY: {
    means: 'Redis keeps no append-only file: a restart could forget that an order was sent.',
    next: 'Set `appendonly yes` (CONFIG SET appendonly yes, and in redis.conf).',
    exit: 5,
  },
  ALM_STORE_FSYNC: {
    means:
      'Redis acknowledges writes before they are on disk: a power cut could forget that an order was sent.',
    next: 'Set `appendfsync always` and `no-appendfsync-on-rewrite no` (with CONFIG SET, and in redis.conf).',
    exit: 5,
  },
  ALM_STORE_EVICTS: {
    means: 'Redis may throw keys away when memory is short.',
    next: 'Set `maxmemory-policy noeviction` (CONFIG SET maxmemory-policy noeviction, and in redis.conf).',
    exit: 5,
  },
  ALM_STORE_REPLICA: {
    means: 'REDIS_URL names a replica, which takes no writes.',
    next: 'Name the primary in REDIS_URL, or use the Sentinel form, which follows it.',
    exit: 5,
  },
  ALM_STORE_UNPROVEN: {
    means: 'Redis does not let this user read its settings, so its safety cannot be checked.',
    next: 'Allow `CONFIG GET` and `INFO` for this user, or attest the settings in the configuration; every report says so then.',
    exit: 5,
  },
  ALM_STORE_TOO_OLD: {
    means: 'This Redis is older than 6.2, the oldest that is supported.',
    next: 'Use Redis 6.2 or newer, or Valkey.',
    exit: 5,
  },
} as const satisfies Record<string, ErrorEntry>;
