import { describe, expect, test } from 'vitest';
import { STORE_ERRORS } from '../../../src/core/errors/store-and-realm.js';
import { serverVersion } from '../../../src/runtime/redis/versions.js';

const seen = (info: Record<string, string>) => serverVersion(new Map(Object.entries(info)));

describe('the version of the store', () => {
  test.each([
    ['Redis 6.2.9', { redis_version: '6.2.9' }],
    ['Redis 7.0.15', { redis_version: '7.0.15' }],
    ['Redis 7.2.6', { redis_version: '7.2.6' }],
    ['Redis 7.4.1', { redis_version: '7.4.1' }],
    ['Redis 8.2.1', { redis_version: '8.2.1' }],
    ['Valkey 7.2.7', { redis_version: '7.2.4', valkey_version: '7.2.7' }],
    ['Valkey 8.0.1', { redis_version: '7.2.4', server_name: 'valkey', valkey_version: '8.0.1' }],
  ])('%s is supported', (shown, info) => {
    expect(seen(info)).toEqual({ shown, fault: null });
  });

  test.each([
    ['Redis 6.0.16', 'too-old', { redis_version: '6.0.16' }],
    ['Redis 5.0.7', 'too-old', { redis_version: '5.0.7' }],
    ['Redis 7.1.0', 'unsupported', { redis_version: '7.1.0' }],
    ['Redis 9.0.0', 'unsupported', { redis_version: '9.0.0' }],
    ['Redis 255.255.255', 'unsupported', { redis_version: '255.255.255' }],
    ['Valkey 9.0.0', 'unsupported', { redis_version: '7.2.4', valkey_version: '9.0.0' }],
    ['Dragonfly df-v1.21.2', 'unsupported', { redis_version: '7.2.0', dragonfly_version: 'df-v1.21.2' }],
    ['KeyDB 6.3.4', 'unsupported', { redis_version: '6.3.4', executable: '/usr/bin/keydb-server' }],
  ])('%s is refused by name: %s', (shown, fault, info) => {
    expect(seen(info)).toEqual({ shown, fault });
  });

  test('a store that hides INFO has no version to refuse', () => {
    expect(seen({})).toBeNull();
  });

  test('every remedy names versions that are supported', () => {
    const remedies = ['ALM_STORE_TOO_OLD', 'ALM_STORE_UNSUPPORTED', 'ALM_STORE_SCRIPT'] as const;
    for (const code of remedies)
      expect(STORE_ERRORS[code].next).toContain('Redis 6.2, 7.0, 7.2, 7.4 or 8, or Valkey 7.2 or 8');
  });
});
