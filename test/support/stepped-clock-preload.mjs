// Loaded before the program by tests only: the wall clock is off by as many milliseconds as the file
// CLOCK_FILE says, and is stepped when the file changes. The monotonic clock stays what it is, as it does on
// a machine whose clock is set.
import { readFileSync } from 'node:fs';

const file = process.env.CLOCK_FILE ?? '';
const LOOK_EVERY_MS = 20;
let offsetMs = 0;
let lookedAtMs = Number.NEGATIVE_INFINITY;

function offset() {
  if (performance.now() - lookedAtMs > LOOK_EVERY_MS) {
    lookedAtMs = performance.now();
    try {
      offsetMs = Number(readFileSync(file, 'utf8'));
    } catch {
      offsetMs = 0;
    }
  }
  return offsetMs;
}

globalThis.Date = new Proxy(Date, {
  construct: (date, args, target) =>
    Reflect.construct(date, args.length === 0 ? [date.now() + offset()] : args, target),
  apply: (date) => new date(date.now() + offset()).toString(),
  get: (date, name) => (name === 'now' ? () => date.now() + offset() : Reflect.get(date, name)),
});
