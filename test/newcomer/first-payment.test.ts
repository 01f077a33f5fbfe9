import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN } from '../support/program/almoner.js';
import { firstPayment } from './story.js';

/** With the built program, linked as `npm link` does it; fresh-clone.long.test.ts builds it from a clone. */
firstPayment(async ({ prefix }) => {
  mkdirSync(join(prefix, 'bin'), { recursive: true });
  symlinkSync(MAIN, join(prefix, 'bin', 'almoner'));
});
