import { z } from 'zod';
import { isBatchId } from '../core/ids.js';
import { CERTAINTIES } from '../core/profile.js';
import type { Manifest } from './views.js';

const digits = z
  .string()
  .regex(/^[0-9]+$/)
  .transform((text) => BigInt(text));

const stored = z.object({
  batch: z.string().refine(isBatchId),
  realm: z.string(),
  realmId: z.string(),
  baseUrl: z.string(),
  rehearsal: z.boolean(),
  certainty: z.enum(CERTAINTIES),
  currency: z.string().nullable(),
  keyLifetimeMs: z.number().nullable().default(null),
  source: z.string(),
  delimiter: z.enum([',', ';', '\t']),
  header: z.array(z.string()),
  rows: z.number(),
  orders: z.object({ credit: z.number(), debit: z.number(), transfer: z.number() }),
  tokens: z.object({ credit: digits, debit: digits, transfer: digits }),
  members: z.number(),
  duplicates: z.number(),
  invalid: z.number(),
  sha256: z.string(),
  again: z.string().nullable(),
  inOrder: z.boolean(),
  mode: z.enum(['run', 'import']),
  sliceMs: z.number(),
  createdAt: z.number(),
  createdBy: z.string(),
});

export function encodeManifest(manifest: Manifest): string {
  return JSON.stringify(manifest, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}

export function decodeManifest(json: string): Manifest {
  return stored.parse(JSON.parse(json));
}
