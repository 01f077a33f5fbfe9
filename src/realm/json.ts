import { isLosslessNumber, stringify } from 'lossless-json';

/** A JSON object from the lossless parser. Its numbers are LosslessNumber objects and keep every digit. */
export type JsonObject = { readonly [name: string]: unknown };

/** True for JSON objects only: arrays and LosslessNumber objects are not. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/**
 * Converts a record for programs that know only JavaScript numbers. A number that JavaScript holds exactly becomes a
 * number; any other (such as an id of 17 to 19 digits) becomes its text.
 */
export function plainJson(value: unknown): unknown {
  if (isLosslessNumber(value)) {
    const number = Number(value.value);
    return String(number) === value.value ? number : value.value;
  }
  if (Array.isArray(value)) return value.map(plainJson);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainJson(item)]));
}

/** Prints the record with every digit as the realm wrote it, indented for a person. */
export function prettyJson(value: unknown): string {
  return stringify(value, undefined, 2) ?? '';
}
