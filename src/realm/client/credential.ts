import { AlmonerError, isAlmonerError } from '../../core/errors/error.js';

/** The key as it goes out, and the means to keep it out of everything that comes back. */
export type Credential = {
  readonly authorization: string;
  /** Replaces the key in a text, also where it is URL- or JSON-encoded. */
  mask(text: string): string;
};

const MASKED = '[key]';

/**
 * Reads the key at each use, so that a new key counts at once; the rest is made only when it changed. Answers a
 * sentence, which never holds the key, where it cannot be read or used.
 */
export function createCredentialReader(readKey: () => string, scheme: string): () => Credential | string {
  let lastKey: string | undefined;
  let last: Credential | undefined;
  return () => {
    try {
      const key = readKey();
      if (last === undefined || key !== lastKey) last = credentialOf(key, scheme);
      lastKey = key;
      return last;
    } catch (error) {
      return isAlmonerError(error) ? error.message : 'The API key could not be read; nothing was sent.';
    }
  };
}

function credentialOf(key: string, scheme: string): Credential {
  if (key.trim() === '')
    throw new AlmonerError('ALM_REALM_KEY_UNUSABLE', 'The API key is empty; nothing was sent.');
  if (!/^[\x20-\x7e]+$/.test(key) || key.trim() !== key)
    throw new AlmonerError(
      'ALM_REALM_KEY_UNUSABLE',
      'The API key holds line breaks, blanks at its ends or characters beyond ASCII; nothing was sent.',
    );
  const encoded = encodeURIComponent(key);
  const spellings = new Set([
    key,
    JSON.stringify(key).slice(1, -1),
    key.replaceAll('/', '\\/'),
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()),
    encoded.replaceAll('%20', '+'),
  ]);
  // The longest first: the plain key may be a part of its encoded forms.
  const ordered = [...spellings].sort((one, other) => other.length - one.length);
  return {
    authorization: scheme === '' ? key : `${scheme} ${key}`,
    mask: (text) => ordered.reduce((masked, spelling) => masked.replaceAll(spelling, MASKED), text),
  };
}
