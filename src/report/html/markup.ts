/**
 * Markup with automatic escaping. Only the literal parts of a template are markup. Every inserted value is text,
 * unless `html` itself made it.
 */
export class Html {
  constructor(readonly markup: string) {}
}

export type Content = Html | string | number | bigint | null | undefined | readonly Content[];

/** Template tag: escapes every inserted value unless `html` made it. */
export function html(literals: TemplateStringsArray, ...values: readonly Content[]): Html {
  let markup = literals[0] ?? '';
  values.forEach((value, at) => {
    markup += rendered(value) + (literals[at + 1] ?? '');
  });
  return new Html(markup);
}

/** A sentence with commands in backticks, as in the error catalogue; the commands are set as code. */
export function prose(text: string): Content {
  return text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part));
}

function rendered(value: Content): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(rendered).join('');
  return escaped(String(value));
}

/**
 * Escapes text and makes control characters and direction marks visible, so that a foreign message cannot display
 * other words than it holds.
 */
function escaped(text: string): string {
  return text
    .replaceAll(/[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** The headings of a table, each with the class of its cells: `n` for numbers. */
type Columns = Readonly<Record<string, '' | 'n' | 'id' | 'wide'>>;

/** A table that scrolls by itself on a narrow screen and can be focused by keyboard. */
export function table(label: string, columns: Columns, rows: readonly (readonly Content[])[]): Html {
  const css = Object.values(columns);
  // The heading of an id column is ordinary text; only its cells use fixed width.
  const heads = Object.entries(columns).map(
    ([head, kind]) => html`<th scope="col" class="${kind === 'n' ? 'n' : ''}">${head}</th>`,
  );
  const body = rows.map(
    (cells) => html`<tr>${cells.map((cell, at) => html`<td class="${css[at]}">${cell}</td>`)}</tr>\n`,
  );
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${label}"><table>
<thead><tr>${heads}</tr></thead>
<tbody>
${body}</tbody></table></div>`;
}
