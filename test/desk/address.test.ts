import { describe, expect, test } from 'vitest';
import { allowedOrigins, deskAddress, hostsOf, shownUrl } from '../../src/desk/http/access/address.js';

const at = (host: string, publicUrl?: string, insecureHttp = false) =>
  deskAddress({ host, publicUrl, insecureHttp });

describe('where the desk may listen', () => {
  test('plain http beyond loopback only when somebody accepts it', () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.5', 'desk.lan'])
      expect(() => at(host)).toThrowError(/plain http/);
    for (const host of ['127.0.0.1', 'localhost', '::1', '127.0.0.5']) expect(at(host).loopback).toBe(true);
    expect(at('0.0.0.0', undefined, true).loopback).toBe(false);
    expect(at('0.0.0.0', 'https://desk.example').publicUrl?.origin).toBe('https://desk.example');
    expect(() => at('0.0.0.0', 'http://desk.example')).toThrowError(/plain http/);
    expect(() => at('127.0.0.1', 'http://desk.example')).toThrowError(/plain http/);
  });

  test('a public address is scheme and host, nothing else', () => {
    for (const url of [
      'desk.example',
      'https://desk.example/path',
      'https://u:p@desk.example',
      'ftp://desk.example',
      'https://desk.example/?a',
    ])
      expect(() => at('127.0.0.1', url)).toThrowError(/--public-url/);
  });
});

describe('what the desk may be called', () => {
  test('loopback by its names, with the port; the public address by its own', () => {
    expect([...hostsOf(allowedOrigins(at('127.0.0.1'), 8080))].sort()).toEqual([
      '127.0.0.1:8080',
      '[::1]:8080',
      'localhost:8080',
    ]);
    expect(hostsOf(allowedOrigins(at('0.0.0.0', 'https://desk.example'), 8080)).has('desk.example')).toBe(
      true,
    );
    expect([...hostsOf(allowedOrigins(at('192.168.1.5', undefined, true), 80))]).toEqual(['192.168.1.5']);
  });

  test('is printed so that it can be opened', () => {
    expect(shownUrl(at('0.0.0.0', undefined, true), 8080)).toBe('http://127.0.0.1:8080');
    expect(shownUrl(at('::1'), 8080)).toBe('http://[::1]:8080');
    expect(shownUrl(at('127.0.0.1', 'https://desk.example'), 8080)).toBe('https://desk.example');
  });
});
