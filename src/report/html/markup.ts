/**
 * Markup that cannot forget to escape: only the literal parts of the template are markup, every value put
 * in is text unless it was made by `html` itself.
 */
export class Html {
  constructor(readonly markup: string) {}
}

export type Content = Html | string | number | bigint | null | undefined | readonly Content[];

export function html(literals: TemplateStringsArray, ...values: readonly Content[]): Html {
  let markup = literals[0] ?? '';
  values.forEach((value, at) => {
    markup += rendered(value) + (literals[at + 1] ?? '');
  });
  return new Html(markup);
}

/** A sentence of ours in which commands stand between backticks, as in the error catalogue. */
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
 * Control characters and those that turn the direction of text become visible: a message from outside must
 * not be able to show other words than it holds.
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

/** The heads of a table, each with the class of its cells: `n` for numbers. */
type Columns = Readonly<Record<string, '' | 'n' | 'id' | 'wide'>>;

/** A table that scrolls by itself on a narrow screen, and can be reached by keyboard for it. */
export function table(label: string, columns: Columns, rows: readonly (readonly Content[])[]): Html {
  const css = Object.values(columns);
  // An id column's head is a word like any other; only its cells are set in fixed width.
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
