import { beforeAll } from 'vitest';
import { comeHome } from './almoner.js';

/** Files share a process: each begins in the project's folder, whatever became of the one before. */
beforeAll(comeHome);
