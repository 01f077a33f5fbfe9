import type { Ran } from './program/almoner.js';

/** Parses the single JSON document that a command printed. Any other output is a failure. */
export function document(ran: Ran): unknown {
  const lines = ran.stdout.trimEnd().split('\n');
  if (lines.length !== 1) throw new Error(`expected one document:\n${ran.stdout}\n${ran.stderr}`);
  return JSON.parse(lines[0] ?? '');
}

/** Reads one field of that document by a path such as `orders.0.order`. */
export function field(ran: Ran, path: string): unknown {
  let value = document(ran);
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !(name in value))
      throw new Error(`no ${path} in ${ran.stdout}${ran.stderr}`);
    value = Object.entries(value).find(([key]) => key === name)?.[1];
  }
  return value;
}

export function textField(ran: Ran, path: string): string {
  return String(field(ran, path));
}
