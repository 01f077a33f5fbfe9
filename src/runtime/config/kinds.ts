import { z } from 'zod';

/** The kinds of settings. Each message begins with `expected`; the actual value is added together with the place. */

/**
 * Adds the description that docs/reference/configuration.md shows. It comes last in the setting's chain. The setting's
 * name ends with its unit.
 */
export function said(description: string, example?: unknown) {
  return { description, examples: example === undefined ? [] : [example] };
}

export function wholeNumber(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

export function choice<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `expected one of ${values.join(', ')}` });
}

export function pattern(what: string, shape: RegExp) {
  const error = `expected ${what}`;
  return z.string({ error }).regex(shape, { error });
}

/** Text for logs, CSV files and pages: no line ends, no control characters. */
export function printable(what: string, lengthMax: number) {
  const error = `expected ${what} of 1 to ${lengthMax} printable characters`;
  return z
    .string({ error })
    .refine((text) => text.trim() !== '' && text.length <= lengthMax && !/\p{C}/u.test(text), { error });
}

export function path(what: string) {
  const error = `expected the path of ${what}`;
  // In a shell `~name` is another user's home; here it would be a folder with that name.
  return z.string({ error }).refine((text) => text.trim() !== '' && !/\0|^~[^/]/.test(text), { error });
}

/** Text that a parser turns into a value. The parser's own fault is the message. */
export function parsed<T>(what: string, parse: (text: string) => { value: T } | { fault: string }) {
  return z.string({ error: `expected ${what}` }).transform((text, context): T => {
    const result = parse(text);
    if ('value' in result) return result.value;
    context.addIssue({ code: 'custom', message: result.fault });
    return z.NEVER;
  });
}

/** A block that refuses unknown names. */
export function block<const T extends z.core.$ZodShape>(shape: T) {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'invalid_type' ? 'expected a block of settings' : undefined),
  });
}

/** A web address without a secret in it. */
export function webUrl() {
  const error = 'expected a URL that starts with https:// or http://, without user name and password';
  return z.string({ error }).refine(isPlainWebUrl, { error });
}

function isPlainWebUrl(text: string): boolean {
  if (!/^https?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
