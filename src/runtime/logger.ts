import { createRequire } from 'node:module';
import { destination as fileDescriptor, type Logger, pino, stdTimeFunctions } from 'pino';
import type PinoPretty from 'pino-pretty';
import type { LogLevel } from './config/settings.js';
import { createRedactor } from './redaction.js';

export type { Logger } from 'pino';
export { registerSecret } from './redaction.js';

export type LogDestination = { write(line: string): unknown };

const WITHHELD = `${JSON.stringify({ level: 'warn', msg: 'a log line was withheld: it could not be freed of a secret' })}\n`;

/**
 * Creates the logger: JSON lines on stderr, because stdout belongs to results. Each finished line is parsed, cleaned
 * of secrets and written again. This covers what serializers, child bindings or error stacks add; redaction by path
 * cannot promise that.
 */
export function createLogger(options: {
  readonly level: LogLevel;
  readonly secrets?: () => readonly string[];
  readonly destination?: LogDestination | undefined;
}): Logger {
  const redactor = createRedactor(options.secrets);
  const pretty = options.destination === undefined && process.stderr.isTTY === true;
  const target = options.destination ?? (pretty ? prettyStderr() : fileDescriptor({ dest: 2, sync: true }));

  const freed = (line: string): string => {
    let entry: unknown;
    try {
      entry = JSON.parse(line);
    } catch {
      return WITHHELD;
    }
    const clean = `${JSON.stringify(redactor.value(pretty ? withoutControls(entry) : entry))}\n`;
    return redactor.text(clean) === clean ? clean : WITHHELD;
  };
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => target.write(freed(line)) },
  );
}

/**
 * Created at the first line, because most commands log nothing. A line cannot wait, so the module is required, not
 * imported.
 */
function prettyStderr(): LogDestination {
  let stream: LogDestination | undefined;
  return {
    write(line) {
      stream ??= openPretty();
      return stream.write(line);
    },
  };
}

function openPretty(): LogDestination {
  const pretty: typeof PinoPretty = createRequire(import.meta.url)('pino-pretty');
  return pretty({
    destination: 2,
    sync: true,
    translateTime: 'SYS:HH:MM:ss',
    colorize: !process.env.NO_COLOR,
  });
}

/** On a terminal, foreign text (an answer of the realm, a CSV cell) must not move the cursor or hide lines. */
function withoutControls(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '�');
  if (Array.isArray(value)) return value.map(withoutControls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutControls(inner)]));
}
