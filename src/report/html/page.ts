import { createHash } from 'node:crypto';
import { counted, grouped, utcTime } from '../../words/spelling.js';
import { type Html, html, table } from './markup.js';
import { STYLE } from './style.js';

/**
 * One self-contained HTML file. Its content policy allows exactly this style sheet: no script, picture, font or
 * request. Markup that slipped through escaping could neither run nor contact a server.
 */
export function page(title: string, rehearsal: boolean, body: Html): string {
  const styleHash = createHash('sha256').update(STYLE.markup).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'`;
  const banner = html`<div class="rehearsal" role="note"><strong>REHEARSAL</strong> This ran on the embedded realm service. No real points were moved.</div>`;
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

/** One line of a public list. It holds every field that the public page may show. */
export type PublicLine = {
  readonly member: string;
  /** By how much the member's balance changed: given points count up, taken or passed-on points count down. */
  readonly tokens: number;
  readonly reason: string | null;
  readonly time: string | null;
};

export type PublicSums = { readonly orders: number; readonly tokens: string };

type PublicFacts = {
  readonly rehearsal: boolean;
  /** The moment at which an unfinished batch was reported; null for a finished one. */
  readonly unfinishedAt: number | null;
  readonly totals: Readonly<Record<'given' | 'taken' | 'passedOn', PublicSums>>;
  readonly shown: readonly PublicLine[];
};

/** public.html: the page for the community. It receives no other data, so it cannot show any. */
export function publicPage({ rehearsal, unfinishedAt, totals, shown }: PublicFacts): string {
  const count = totals.given.orders + totals.taken.orders + totals.passedOn.orders;
  const tile = (name: string, { orders, tokens }: PublicSums): Html | null =>
    orders === 0
      ? null
      : html`<div class="tile"><dt>${name}</dt><dd class="big">${grouped(tokens)}</dd><dd class="note">points in ${counted(orders, 'entry', 'entries')}</dd></div>\n`;
  const rows = shown.map((line) => [
    line.member,
    `${line.tokens > 0 ? '+' : '−'}${grouped(Math.abs(line.tokens))}`,
    line.reason,
    line.time === null ? null : utcTime(Date.parse(line.time)),
  ]);
  const body = html`<header class="top"><h1>Points of our members</h1>${unfinishedAt === null ? null : html`<p class="lead soft">As of ${utcTime(unfinishedAt)}: not finished yet, more entries may follow.</p>`}</header>
<main>
<dl class="tiles">
${tile('Given', totals.given)}${tile('Taken', totals.taken)}${tile('Passed on', totals.passedOn)}</dl>
<section><h2>${counted(count, 'entry', 'entries')}</h2>
${table('Points by member', { Member: 'id', Points: 'n', Reason: 'wide', Time: 'id' }, rows)}
${count > shown.length ? html`<p class="soft">The first ${grouped(shown.length)} of ${grouped(count)}; all are in public.csv.</p>` : null}
</section>
</main>`;
  return page('Points of our members', rehearsal, body);
}
