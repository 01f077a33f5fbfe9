import { z } from 'zod';

/** The parts that requests have in common, each bounded. */
export const batchParams = z.object({ batch: z.string().min(1).max(80) });
export const orderParams = z.object({ order: z.string().min(3).max(100) });
export const name = z.string().min(1).max(200);
export const reason = z.string().trim().min(1).max(500);
export const realm = z.string().min(1).max(200);
export const member = z.string().regex(/^[0-9]{1,20}$/, 'expected a member id: 1 to 20 digits');
export const cursor = z.string().min(1).max(80);
export const indexCursor = z.string().regex(/^[1-9][0-9]{0,8}$/, 'expected a cursor that the desk gave out');
export const digits = z.string().regex(/^[0-9]{1,30}$/, 'expected a sum as digits');
export const orders = z.array(z.string().min(3).max(100)).min(1).max(1000);

export function limit(max: number) {
  return z.coerce.number().int().min(1).max(max);
}
