// What was read from YAML, apart from the reader: whoever only looks at values need not load that.

/** A place inside a value: field names and list positions. */
export type ValuePath = readonly (string | number)[];

/** What stands at a place; undefined where nothing does. */
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

/** A mapping, by its names. */
export function isBlock(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
