import { setImmediate as turn } from 'node:timers/promises';

/** So many members are gone through at a stretch: a few milliseconds. */
const SLICE_MEMBERS = 500;

/** A long list in slices, with a turn for everything else that the process does before each of them. */
export async function* inTurns<T>(list: readonly T[]): AsyncGenerator<readonly T[], void, undefined> {
  for (let start = 0; start < list.length; start += SLICE_MEMBERS) {
    await turn();
    yield list.slice(start, start + SLICE_MEMBERS);
  }
}
