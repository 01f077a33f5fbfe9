/**
 * What every answer tells the browser. No script, style or request may come from or go to anywhere else, and
 * nothing inline runs: a script in a CSV cell stays text even if a page should ever forget to escape it.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

/** The queue board sets styles inline and names its base; scripts stay as strict as elsewhere. */
const BOARD_POLICY = POLICY.map((rule) => {
  if (rule.startsWith('style-src')) return "style-src 'self' 'unsafe-inline'";
  return rule.startsWith('base-uri') ? "base-uri 'self'" : rule;
});

export function securityHeaders(route: string, encrypted: boolean): Readonly<Record<string, string>> {
  const board = route === '/queues' || route.startsWith('/queues/');
  return {
    'content-security-policy': (board ? BOARD_POLICY : POLICY).join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
    ...(encrypted ? { 'strict-transport-security': 'max-age=31536000' } : {}),
    // Files of the page say otherwise themselves.
    'cache-control': 'no-store',
  };
}
