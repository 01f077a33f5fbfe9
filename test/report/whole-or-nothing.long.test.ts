import { test } from 'vitest';
import { killedWriters } from './killed-writers.js';

test('a process killed between any two files leaves only whole files, old or new', () =>
  killedWriters({ staged: [1, 7, 9], replaced: [1, 2, 3, 4, 5, 6, 7, 8] }));
