import { describe, expect, it } from 'vitest';
import { isAlmonerError } from '../../../src/core/errors/error.js';
import { maskAddress, parseStoreAddress, readStoreAddress } from '../../../src/runtime/redis/address.js';

const NO_LOGIN = { user: null, password: null };
const NO_FILES = { ca: null, cert: null, key: null };

describe('an address of an outside Redis', () => {
  it.each([
    [
      'redis://localhost',
      { form: 'single', host: { host: 'localhost', port: 6379 }, db: 0, ...NO_LOGIN, tls: null },
      'redis://localhost:6379/0',
    ],
    [
      'rediss://worker:p%40ss%3A%2F@cache.example.com:6390/3',
      {
        form: 'single',
        host: { host: 'cache.example.com', port: 6390 },
        db: 3,
        user: 'worker',
        password: 'p@ss:/',
        tls: NO_FILES,
      },
      'rediss://worker:***@cache.example.com:6390/3',
    ],
    [
      'redis://:secret@[::1]:7000',
      { form: 'single', host: { host: '::1', port: 7000 }, db: 0, user: null, password: 'secret', tls: null },
      'redis://:***@[::1]:7000/0',
    ],
    [
      'rediss://host?ca=/etc/ca.pem&cert=/c.pem&key=/k.pem',
      {
        form: 'single',
        host: { host: 'host', port: 6379 },
        db: 0,
        ...NO_LOGIN,
        tls: { ca: '/etc/ca.pem', cert: '/c.pem', key: '/k.pem' },
      },
      'rediss://host:6379/0',
    ],
    [
      'redis+sentinel://u:pw@a:1,b/mymaster/2?sentinelPassword=other',
      {
        form: 'sentinel',
        sentinels: [
          { host: 'a', port: 1 },
          { host: 'b', port: 26_379 },
        ],
        master: 'mymaster',
        db: 2,
        user: 'u',
        password: 'pw',
        sentinelUser: null,
        sentinelPassword: 'other',
        tls: null,
      },
      'redis+sentinel://u:***@a:1,b:26379/mymaster/2',
    ],
    [
      'rediss+cluster://a:7001,b:7002',
      {
        form: 'cluster',
        nodes: [
          { host: 'a', port: 7001 },
          { host: 'b', port: 7002 },
        ],
        ...NO_LOGIN,
        tls: NO_FILES,
      },
      'rediss+cluster://a:7001,b:7002',
    ],
  ])('%s is read, and shown without its password', (text, address, shown) => {
    expect(parseStoreAddress(text)).toEqual(address);
    expect(maskAddress(parseStoreAddress(text))).toBe(shown);
  });

  it.each([
    ['localhost:6379', /expected REDIS_URL to be an address such as redis:/],
    ['', /expected REDIS_URL to be an address/],
    ['http://localhost', /begin with one of redis:.*got http:/],
    ['unix:///run/redis.sock', /got unix:/],
    ['redis://', /host:port/],
    ['redis://host:0', /host:port/],
    ['redis://host:65536', /host:port/],
    ['redis://host:abc', /host:port/],
    ['redis://a:1,b:2', /several need redis\+sentinel/],
    ['redis://host/zero', /database number/],
    ['redis://host/0/more', /database number/],
    ['redis://user@host', /password after the user/],
    ['redis://user:100%@host', /percent-encoded/],
    ['redis://host?ca=/ca.pem', /does not take \?ca=/],
    ['rediss://host?cert=/c.pem', /both cert and key/],
    ['rediss://host?ca=', /to have a value/],
    ['rediss://host?verify=no', /does not take \?verify=.*only ca, cert, key/],
    ['redis+sentinel://a:1,b:2', /name the master/],
    ['redis+sentinel://a:1,,b:2/m', /host:port/],
    ['redis+cluster://a:1/0', /no databases/],
  ])('%s is refused with a sentence that says what was expected', (text, fault) => {
    const result = readStoreAddress(text);
    expect('faults' in result && result.faults.join('\n')).toMatch(fault);
  });

  it('is refused with all its faults at once', () => {
    const result = readStoreAddress('redis://user@host:99999/x?y=1');
    expect('faults' in result && result.faults).toHaveLength(4);
  });

  it.each([
    'redis://user:hunter2/@host',
    'redis://user:hunter2@@host',
    'redis://hunter2',
    'hunter2',
    'redis://u:hunter2%@h',
  ])('%s never shows what may be a password in its error', (text) => {
    let thrown: unknown;
    try {
      parseStoreAddress(text);
    } catch (error) {
      thrown = error;
    }
    if (thrown === undefined) return; // a mere host name
    expect(isAlmonerError(thrown, 'ALM_CONFIG_INVALID')).toBe(true);
    expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toContain('hunter2');
  });
});
