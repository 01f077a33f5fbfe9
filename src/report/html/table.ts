import { type Content, type Html, html } from './markup.js';

export type Column = { readonly head: string; readonly kind?: 'number' | 'id' | 'wide' };

const KIND_CLASS = { number: 'n', id: 'id', wide: 'wide' } as const;

/** A table that scrolls by itself on a narrow screen, and can be reached by keyboard for it. */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly Content[])[],
): Html {
  const css = (at: number) => {
    const kind = columns[at]?.kind;
    return kind === undefined ? '' : KIND_CLASS[kind];
  };
  // An id column's head is a word like any other; only its cells are set in fixed width.
  const heads = columns.map(
    ({ head, kind }) => html`<th scope="col" class="${kind === 'number' ? 'n' : ''}">${head}</th>`,
  );
  const body = rows.map(
    (cells) => html`<tr>${cells.map((cell, at) => html`<td class="${css(at)}">${cell}</td>`)}</tr>\n`,
  );
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${label}"><table>
<thead><tr>${heads}</tr></thead>
<tbody>
${body}</tbody></table></div>`;
}
