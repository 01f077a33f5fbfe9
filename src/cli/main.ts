#!/usr/bin/env node
import type { ExitStatus } from '../core/errors/entry.js';
import { CommandLine } from './frame/command-line.js';

const { argv, env, stdout, stderr } = process;
const line = new CommandLine(argv.slice(2), {
  env,
  cwd: process.cwd(),
  // Opened only when a command asks for it. Help and a usage error never open standard input.
  get stdin() {
    return process.stdin;
  },
  stdout,
  stderr,
});

/** Ends the process after standard output was drained. */
async function end(status: ExitStatus): Promise<never> {
  // A pipe may still hold the last document. Exiting before it is drained would cut the document off.
  await new Promise<void>((resolve) => stdout.write('', () => resolve()));
  process.exit(status);
}

// An unhandled rejection or an error in a callback leaves the process in an unknown state, so that it reports and
// ends.
process.on('unhandledRejection', (reason) => void end(line.report(reason)));
process.on('uncaughtException', (error) => void end(line.report(error)));

void line.run().then(end);
