import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slow files, slowest first: a slow file that starts last leaves the other processes idle. */
const SLOW = [
  'e2e/week',
  'newcomer/',
  'package/',
  'cli/spawned',
  'simulator/',
  'operations/',
  'chaos/',
  'browser/',
  'e2e/',
  'security/',
  'cli/',
];
/** Files that mostly wait. Running them side by side would leave the cores idle. */
const WAITING = ['queue/', 'library/', 'runtime/', 'realm/'];

/**
 * Orders test files by folder, then by name, so that every machine and run uses the same order. The waiting files are
 * spread among the others.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = [...files].sort(
      (one, other) => rankOf(one) - rankOf(other) || (one.moduleId < other.moduleId ? -1 : 1),
    );
    const waiting = sorted.filter((file) => placeIn(WAITING, file) !== -1);
    const others = sorted.filter((file) => placeIn(WAITING, file) === -1);
    const before = (index: number) => Math.round((index * waiting.length) / Math.max(1, others.length));
    return others.length === 0
      ? waiting
      : others.flatMap((file, index) => [file, ...waiting.slice(before(index), before(index + 1))]);
  }
}

function rankOf(file: TestSpecification): number {
  const place = placeIn(SLOW, file);
  return place === -1 ? SLOW.length : place;
}

function placeIn(places: readonly string[], { moduleId }: TestSpecification): number {
  return places.findIndex((place) => moduleId.includes(`/test/${place}`));
}
