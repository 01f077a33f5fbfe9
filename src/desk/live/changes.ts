import type { BatchSummary, Overview, OverviewChanges } from '../api/index.js';

/** What of an overview is another than before: whole parts, and of the batches only those that changed. */
export function changesBetween(before: Overview, now: Overview): OverviewChanges {
  const { batches, at, ...parts } = now;
  const known = new Map(before.batches.map((batch) => [nameOf(batch), JSON.stringify(batch)]));
  const changed = batches.filter((batch) => known.get(nameOf(batch)) !== JSON.stringify(batch));
  const others = Object.entries(parts).filter(([name, part]) => !isSame(part, partOf(before, name)));
  return { at, ...Object.fromEntries(others), batches: { order: batches.map(nameOf), changed } };
}

/** A batch id may stand in two realms. */
function nameOf({ realm, batch }: BatchSummary): string {
  return `${realm}/${batch}`;
}

function partOf(overview: Overview, name: string): unknown {
  return new Map<string, unknown>(Object.entries(overview)).get(name);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
