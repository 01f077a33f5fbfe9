import { AlmonerError, isAlmonerError } from '../../core/errors/error.js';

/** The API key as the client sends it, with a function that removes it from text. */
export type Credential = {
  readonly authorization: string;
  /** Replaces the key in a text, also in its URL-encoded and JSON-encoded forms. */
  mask(text: string): string;
};

const MASKED = '[key]';

/**
 * Returns a reader that reads the key at each use, so that a rotated key takes effect immediately. It rebuilds the
 * credential only when the key changes. If the key cannot be read or used, it returns a sentence that never holds the
 * key.
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

/**
 * Checks the key and prepares all its spellings for masking. A line break or a blank in a header value would corrupt
 * the request.
 */
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
  // Mask the longest spelling first: the plain key may be part of its encoded forms.
  const ordered = [...spellings].sort((one, other) => other.length - one.length);
  return {
    authorization: scheme === '' ? key : `${scheme} ${key}`,
    mask: (text) => ordered.reduce((masked, spelling) => masked.replaceAll(spelling, MASKED), text),
  };
}
