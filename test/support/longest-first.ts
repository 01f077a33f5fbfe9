import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose files take longest, longest first: a long file that begins last leaves the other processes idle. */
const SLOW_FOLDERS = [
  'newcomer',
  'package',
  'simulator',
  'operations',
  'chaos',
  'browser',
  'e2e',
  'security',
  'cli',
  'desk',
  'planning',
];

/** Orders test files by their folder, then by name: the same order on every machine and in every run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = SLOW_FOLDERS.findIndex((folder) => moduleId.includes(`/test/${folder}/`));
      return at === -1 ? SLOW_FOLDERS.length : at;
    };
    return [...files].sort(
      (one, other) => rank(one) - rank(other) || (one.moduleId < other.moduleId ? -1 : 1),
    );
  }
}
