import { createHash } from 'node:crypto';
import { type Html, html } from './markup.js';
import { STYLE } from './style.js';

/**
 * One self-contained file. The policy allows exactly this style sheet and nothing else: no script, no
 * picture, no font, no request; so even markup that slipped through could neither run nor call home.
 */
export function page(title: string, rehearsal: boolean, body: Html): string {
  const styleHash = createHash('sha256').update(STYLE.markup).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'`;
  const banner = html`<div class="rehearsal" role="note"><strong>REHEARSAL</strong> Played on the embedded realm service. No real points were moved.</div>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${rehearsal ? 'REHEARSAL · ' : ''}${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
${rehearsal ? banner : null}
${body}
</body>
</html>
`.markup;
}
