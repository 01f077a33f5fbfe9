/** How values are shown to people: passwords and tokens inside URLs never, long values cut. */

const SHOWN_MAX = 80;
const SECRET_PARAMETER = /([?&](?:[^=&#]*(?:pass|secret|token|key|auth)[^=&#]*)=)[^&#]*/gi;

/**
 * Works on text, not on a parsed URL: a mistyped URL and a Sentinel list of hosts do not parse, and still
 * must not give their password away. Everything up to the last `@` counts as user name and password.
 */
export function maskUrl(text: string): string {
  const at = text.lastIndexOf('@');
  if (at === -1) return text.replace(SECRET_PARAMETER, '$1***');
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? '';
  const colon = text.slice(scheme.length, at).indexOf(':');
  const user = colon === -1 ? '***' : `${text.slice(scheme.length, scheme.length + colon)}:***`;
  return `${scheme}${user}@${text.slice(at + 1)}`.replace(SECRET_PARAMETER, '$1***');
}

/** A value as a fault message quotes it. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'an empty value';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a block';
  if (typeof value !== 'string') return String(value);
  const masked = maskUrl(value);
  return JSON.stringify(masked.length > SHOWN_MAX ? `${masked.slice(0, SHOWN_MAX)}…` : masked);
}
