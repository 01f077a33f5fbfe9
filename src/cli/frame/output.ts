import type { AlmonerError } from '../../core/errors/error.js';
import { spelledOut, spelledOutJson, spelledOutWhole } from '../../core/one-line.js';
import { createRedactor } from '../../runtime/redaction.js';
import { type Colours, coloursFor } from '../text/colours.js';

/** One result, as JSON for a program and as text for a person. */
type Printed = {
  /** The document of --json. BigInts become strings of digits. */
  readonly json: unknown;
  readonly text: string | readonly string[];
  /** The step that the person can take next. */
  readonly next?: string | null;
};

export type Output = {
  readonly json: boolean;
  readonly colours: Colours;
  /** The result. With --json it is the one document on stdout, so a command prints it once. */
  print(result: Printed): void;
  /** Prints a line for people on stdout; does nothing with --json. */
  line(text: string): void;
  /** Prints a line on stderr in both modes: progress, warnings, questions. */
  note(text: string): void;
  error(error: AlmonerError): void;
};

export type Sink = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** Makes the output of one command. With --json stdout holds exactly one document, also for an error. */
export function createOutput(options: {
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Sink;
  readonly stderr: Sink;
}): Output {
  const { json, env } = options;
  const stdout = tolerant(options.stdout);
  const stderr = tolerant(options.stderr);
  const colours = coloursFor(options.stdout, env);
  const redactor = createRedactor();
  let documents = 0;

  const print = (result: Printed): void => {
    if (json) {
      documents += 1;
      if (documents > 1) throw new Error('a command prints one JSON document only');
      stdout(`${toJson(result.json)}\n`);
      return;
    }
    stdout(`${typeof result.text === 'string' ? result.text : result.text.join('\n')}\n`);
    if (result.next) stdout(`${colours.bold('Next:')} ${result.next}\n`);
  };

  return {
    json,
    colours,
    print,
    line(text) {
      if (!json) stdout(`${text}\n`);
    },
    note(text) {
      stderr(`${text}\n`);
    },
    error(error) {
      const { code, next } = error;
      const message = redactor.text(error.message);
      const details = error.details.map((detail) => redactor.text(detail));
      if (json && documents === 0) {
        documents += 1;
        stdout(`${toJson({ error: { code, message, details, next } })}\n`);
        return;
      }
      const red = coloursFor(options.stderr, env).red;
      stderr(`${red('error:')} ${code}: ${indented(message)}\n`);
      for (const detail of details) stderr(`  - ${indented(detail)}\n`);
      stderr(`Next: ${next}\n`);
    },
  };
}

/** Indents continuation lines, so that quoted text cannot imitate a line of almoner's own. */
function indented(text: string): string {
  return spelledOutWhole(text).replaceAll('\n', '\n    ');
}

function toJson(value: unknown): string {
  const digits = (_: string, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner);
  return spelledOutJson(JSON.stringify(value, digits));
}

/**
 * Writes to a stream whose reader may go away (`almoner run … | head`). A run that is paying must not end for that:
 * further output is dropped, and the command continues to its own exit status.
 */
function tolerant(stream: Sink): (text: string) => void {
  let open = true;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    open = false;
  });
  return (text) => {
    if (open) stream.write(spelledOut(text));
  };
}
