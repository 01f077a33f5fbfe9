/**
 * A realm's base URL in its one spelling. The realm's identity holds it, so two spellings of one address
 * must come out equal; and a URL that carries credentials, a query or a fragment is refused, because it
 * would end up in reports and batch identities.
 */

type ParsedBaseUrl = { readonly baseUrl: string } | { readonly fault: string };

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

/** Plain http is as safe as the machine itself there; anywhere else the key travels readable. */
export function isLoopbackUrl(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const host = new URL(baseUrl).hostname;
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.[0-9]+){3}$/.test(host)
  );
}
