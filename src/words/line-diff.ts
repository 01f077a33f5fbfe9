/**
 * The difference between two texts, line by line: common lines, lines only of the first, lines only of the second.
 */
export type DiffLine = { readonly mark: ' ' | '-' | '+'; readonly text: string };

/** Beyond this many pairs of lines the middle is shown as replaced, which is correct and fast. */
const PAIRS_MAX = 1_000_000;

/** Compares two texts line by line. Common lines at both ends are cut off first, because most changes are small. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [before.trimEnd().split('\n'), after.trimEnd().split('\n')];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail))
    tail += 1;
  const marked = (mark: DiffLine['mark'], lines: readonly string[]) => lines.map((text) => ({ mark, text }));
  return [
    ...marked(' ', old.slice(0, head)),
    ...middle(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...marked(' ', old.slice(old.length - tail)),
  ];
}

/** Compares by the longest common subsequence of lines. */
function middle(old: readonly string[], now: readonly string[]): DiffLine[] {
  const width = now.length + 1;
  const isLarge = old.length * now.length > PAIRS_MAX;
  const common = new Uint32Array(isLarge ? 0 : (old.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0 && !isLarge; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (!isLarge && i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ mark: ' ', text: old[i++] ?? '' });
      j += 1;
    } else if (i < old.length && (j >= now.length || at(i + 1, j) >= at(i, j + 1)))
      lines.push({ mark: '-', text: old[i++] ?? '' });
    else lines.push({ mark: '+', text: now[j++] ?? '' });
  }
  return lines;
}
