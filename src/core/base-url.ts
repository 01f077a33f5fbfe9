/**
 * Normalizes a realm's base URL to one spelling. The URL is part of the realm's identity, so two spellings of one
 * address must give the same text. A URL with credentials, a query or a fragment is refused, because reports and
 * batch ids would show it.
 */

type ParsedBaseUrl = { readonly baseUrl: string } | { readonly fault: string };

/** Returns the normalized URL without `/api/v4` and trailing slashes, or a fault that names the expected form. */
export function parseBaseUrl(text: string): ParsedBaseUrl {
  const trimmed = text.trim();
  if (!/^https?:\/\//i.test(trimmed) || /[\s\\]/.test(trimmed) || !URL.canParse(trimmed))
    return { fault: 'expected a URL that starts with https:// or http://' };
  const url = new URL(trimmed);
  if (url.username !== '' || url.password !== '')
    return { fault: 'expected a URL without user name and password; the key has a setting of its own' };
  if (trimmed.includes('?')) return { fault: 'expected a URL without a query' };
  if (trimmed.includes('#')) return { fault: 'expected a URL without a fragment' };
  const path = url.pathname.replace(/\/+$/, '').replace(/\/api\/v4$/, '');
  return { baseUrl: `${url.protocol}//${url.host}${path.replace(/\/+$/, '')}` };
}

/**
 * True for hosts of this machine, where plain http is acceptable. On any other host plain http would send the key
 * readable.
 */
export function isLoopbackUrl(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const host = new URL(baseUrl).hostname;
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.[0-9]+){3}$/.test(host)
  );
}
