const WIDTH = 140;

/** The lines of one paragraph or list item; `indent` begins every line but the first. Code in backticks stays whole. */
export function wrapped(text, indent = '') {
  const lines = [''];
  for (const word of text.trimEnd().match(/ *(?:`[^`]*`|[^\s`])+/g) ?? []) {
    const last = lines.at(-1);
    if (last !== '' && last.length + word.length > WIDTH) lines.push(`${indent}${word.trimStart()}`);
    else lines[lines.length - 1] = `${last}${word}`;
  }
  return lines;
}
