// Helpers for values read from YAML. They are separate from the reader, so that code that only inspects values need
// not load it.

/** A path inside a value: field names and list positions. */
export type ValuePath = readonly (string | number)[];

/** The value at a path; undefined if there is none. */
export function valueAt(value: unknown, path: ValuePath): unknown {
  let here = value;
  for (const step of path) {
    if (Array.isArray(here)) here = here[Number(step)];
    else if (typeof here === 'object' && here !== null && Object.hasOwn(here, step))
      here = Reflect.get(here, step);
    else return undefined;
  }
  return here;
}

/** True for a mapping. */
export function isBlock(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
