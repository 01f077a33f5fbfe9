import { type Read, read, unreadable } from './answer.js';

/**
 * The Idempotency-Key header: an RFC 8941 string (`"abc"`, with \" and \\ escaped) or the bare token that
 * many clients send. Both spellings of one text are one key.
 */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
const BARE = /^[\x21\x23-\x7e]+$/;
export const IDEMPOTENCY_KEY_MAX = 255;

export function readIdempotencyKey(header: string | string[] | undefined): Read<string | null> {
  if (header === undefined) return read(null);
  const text = typeof header === 'string' ? header.trim() : '';
  const key = QUOTED.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? (BARE.test(text) ? text : undefined);
  if (key === undefined || key === '' || key.length > IDEMPOTENCY_KEY_MAX) {
    return unreadable(
      `The Idempotency-Key header must hold one quoted string or one bare token of 1 to ${IDEMPOTENCY_KEY_MAX} visible characters.`,
      'Idempotency-Key',
    );
  }
  return read(key);
}

/**
 * Keys whose request has arrived in this process and has not reached the store yet. The change itself is
 * one script, so two requests can never both apply; but while the first is held up before it (slow store,
 * a rehearsed delay) a second one is told 409 instead of overtaking it. The list lives in the process on
 * purpose: a marker in Redis would need an expiry, and a request slower than that would be overtaken anyway.
 */
export class RunningKeys {
  readonly #running = new Set<string>();

  /** Undefined when a request with this key is under way; otherwise the function that ends the claim. */
  claim(realmId: string, key: string | null): (() => void) | undefined {
    if (key === null) return () => {};
    const name = `${realmId}\n${key}`;
    if (this.#running.has(name)) return undefined;
    this.#running.add(name);
    return () => {
      this.#running.delete(name);
    };
  }
}
