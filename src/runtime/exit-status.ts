import type { ExitCode } from '../core/errors/catalogue.js';

export type ExitStatus = 0 | ExitCode;
