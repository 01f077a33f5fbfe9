import { type Check, failed, ok } from '../check.js';

const MAJOR = 20;
const MINOR = 19;

export function nodeVersion(version: string): Check {
  return {
    name: 'Node version',
    async run() {
      const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
      if (major > MAJOR || (major === MAJOR && minor >= MINOR)) return ok(`Node ${version}`);
      return failed(
        `Node ${version} is too old`,
        `Install Node ${MAJOR}.${MINOR} or newer and run the command again.`,
      );
    },
  };
}
