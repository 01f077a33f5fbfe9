/**
 * Keeps registered secrets out of everything that is printed or logged, in two ways. Values are replaced wherever
 * they occur, in every encoding that a library may use. Fields with the name of a secret are replaced whatever they
 * hold, because a secret may not be registered yet.
 */

const REDACTED = '[redacted]';
const SECRET_FIELD =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api[-_]?key|key|password|passphrase|secret|token|access[-_]?token)$/i;

/** Removes secrets from texts and values. */
export type Redactor = {
  text(text: string): string;
  /** Copies a JSON value without secrets: in its strings, field names and numbers. */
  value(value: unknown): unknown;
};

const registered = new Set<string>();

/** From now on the value appears in no log line and no error of this process. */
export function registerSecret(value: string): void {
  if (value !== '') registered.add(value);
}

/** Creates a redactor for a changing set of secrets. */
export function createRedactor(secrets: () => readonly string[] = () => []): Redactor {
  let knownCount = -1;
  let known = '';
  let pattern: RegExp | undefined;

  // Secrets are added while the process runs (a rotated key), so the pattern is rebuilt when they change.
  const current = (): RegExp | undefined => {
    const all = [...registered, ...secrets()].filter((secret) => secret !== '');
    const fingerprint = all.join('\u0000');
    if (all.length !== knownCount || fingerprint !== known) {
      knownCount = all.length;
      known = fingerprint;
      pattern = patternFor(all);
    }
    return pattern;
  };
  const text = (input: string): string => {
    const found = current();
    return found === undefined ? input : input.replace(found, REDACTED);
  };
  const value = (input: unknown): unknown => {
    if (typeof input === 'string') return text(input);
    if (Array.isArray(input)) return input.map(value);
    if (typeof input === 'number') {
      const digits = String(input);
      return text(digits) === digits ? input : REDACTED;
    }
    if (typeof input !== 'object' || input === null) return input;
    return Object.fromEntries(
      Object.entries(input).map(([name, inner]) => [
        text(name),
        SECRET_FIELD.test(name) && inner !== null ? REDACTED : value(inner),
      ]),
    );
  };
  return { text, value };
}

function patternFor(secrets: readonly string[]): RegExp | undefined {
  const forms = new Set(secrets.flatMap(formsOf));
  if (forms.size === 0) return undefined;
  // The longest form first, so that a form that contains another one is replaced whole.
  const sorted = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(sorted.map((form) => form.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('|'), 'g');
}

/** The spellings of one secret: plain, inside JSON, inside a URL, hexadecimal, and base64 at any offset. */
function formsOf(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  // A logged body may be text inside another body; each level escapes once more.
  const twice = JSON.stringify(escaped).slice(1, -1);
  const thrice = JSON.stringify(twice).slice(1, -1);
  const bytes = Buffer.from(secret, 'utf8');
  const forms = [secret, escaped, twice, thrice, encodeURI(safe(secret)), encodeURIComponent(safe(secret))];
  const form = new URLSearchParams({ v: secret }).toString().slice(2);
  const percentLower = encodeURIComponent(safe(secret)).replace(/%[0-9A-F]{2}/g, (code) =>
    code.toLowerCase(),
  );
  forms.push(form, percentLower);
  // The encodings of a short secret have few letters and would match ordinary words.
  if (bytes.length >= 6)
    forms.push(bytes.toString('hex'), bytes.toString('hex').toUpperCase(), ...base64(bytes));
  return forms;
}

/**
 * The base64 forms of a secret inside a longer text such as `user:secret`. The secret starts at one of three offsets.
 * The characters that mix with neighbours are left out; the rest does not depend on them.
 */
function base64(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const start = Math.ceil((offset * 8) / 6);
    const inner = text.slice(start, Math.floor(((offset + bytes.length) * 8) / 6));
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** Half of a surrogate pair cannot be encoded in a URL. A round trip through bytes replaces it. */
function safe(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
