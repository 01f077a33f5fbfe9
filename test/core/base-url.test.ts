import { describe, expect, test } from 'vitest';
import { isLoopbackUrl, parseBaseUrl } from '../../src/core/base-url.js';

describe('a base URL has one spelling', () => {
  test.each([
    ['https://realms.example', 'https://realms.example'],
    ['https://realms.example/', 'https://realms.example'],
    ['https://realms.example/api/v4', 'https://realms.example'],
    ['https://realms.example/api/v4///', 'https://realms.example'],
    ['HTTPS://Realms.Example:443/api/v4/', 'https://realms.example'],
    ['http://127.0.0.1:8080/prefix/api/v4', 'http://127.0.0.1:8080/prefix'],
    [' https://realms.example ', 'https://realms.example'],
  ])('%s', (text, baseUrl) => {
    expect(parseBaseUrl(text)).toEqual({ baseUrl });
  });

  test.each([
    '',
    'realms.example',
    'ftp://realms.example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://',
    'https://user:pass@realms.example',
    'https://user@realms.example',
    'https://realms.example?x=1',
    'https://realms.example/?',
    'https://realms.example/#top',
    'https://realms.example/a b',
    'https:\\\\realms.example',
  ])('refuses %j', (text) => {
    expect(parseBaseUrl(text)).toHaveProperty('fault', expect.stringMatching(/^expected /));
  });

  test.each([
    ['http://127.0.0.1:1', true],
    ['http://127.9.9.9', true],
    ['http://[::1]:80', true],
    ['http://localhost', true],
    ['http://127.evil.example', false],
    ['http://10.0.0.1', false],
  ])('%s is on this machine: %s', (url, loopback) => {
    expect(isLoopbackUrl(url)).toBe(loopback);
  });
});
