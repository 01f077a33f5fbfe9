import { z } from 'zod';

/** The parts of requests, each bounded, and of pages. */

/** What a page of a list that may be long ends with. */
export const next = z.string().nullable().describe('Hand it back as `cursor`; null is the end.');

export const batch = z.string().min(1).max(80);
export const order = z.string().min(3).max(100);
export const name = z.string().min(1).max(200);
export const reason = z.string().trim().min(1).max(500);
export const member = z.string().regex(/^[0-9]{1,20}$/, 'expected a member id: 1 to 20 digits');
export const cursor = z.string().min(1).max(80);
export const digits = z.string().regex(/^[0-9]{1,30}$/, 'expected a sum as digits');

export function limit(max: number) {
  return z.coerce.number().int().min(1).max(max);
}

/** Cells that are mended at once. */
export const MENDED_MAX = 200;
/** A longer one is mended where it comes from. */
export const CELL_CHARACTERS_MAX = 1_000;
