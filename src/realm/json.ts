import { isLosslessNumber, stringify } from 'lossless-json';

/** A JSON object as parsed without loss: numbers are LosslessNumber, so that no digit is lost. */
export type JsonObject = { readonly [name: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/**
 * A record for programs that know only JavaScript's numbers: what such a number holds exactly becomes one,
 * every other one (ids of 17 to 19 digits) becomes its text.
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

/** The record as the realm wrote it, digit by digit, indented for a person. */
export function prettyJson(value: unknown): string {
  return stringify(value, undefined, 2) ?? '';
}
