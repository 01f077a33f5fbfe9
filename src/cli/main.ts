#!/usr/bin/env node
import type { ExitStatus } from '../core/errors/entry.js';
import { CommandLine } from './frame/command-line.js';

const { argv, env, stdout, stderr } = process;
const line = new CommandLine(argv.slice(2), {
  env,
  cwd: process.cwd(),
  // Opened by being asked for, which help and a typing error never do.
  get stdin() {
    return process.stdin;
  },
  stdout,
  stderr,
});

async function end(status: ExitStatus): Promise<never> {
  // A pipe may still hold the last document; leaving before it is drained would cut it.
  await new Promise<void>((resolve) => stdout.write('', () => resolve()));
  process.exit(status);
}

// A promise nobody waits for, or an error in a callback: the process no longer knows its own state.
process.on('unhandledRejection', (reason) => void end(line.report(reason)));
process.on('uncaughtException', (error) => void end(line.report(error)));

void line.run().then(end);
