const RANGES_SHOWN = 10;

/** Lines for people: `line 7`, `lines 2-101, 104 and 3 more`. */
export function lineRanges(lines: readonly number[]): string {
  const sorted = [...lines].sort((a, b) => a - b);
  const ranges: [first: number, last: number][] = [];
  let shown = 0;
  for (const line of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && line <= last[1] + 1) last[1] = line;
    else if (ranges.length === RANGES_SHOWN) break;
    else ranges.push([line, line]);
    shown += 1;
  }
  const words = ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
  const more = sorted.length > shown ? ` and ${sorted.length - shown} more` : '';
  return `${sorted.length === 1 ? 'line' : 'lines'} ${words}${more}`;
}
