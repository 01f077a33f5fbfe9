import { z } from 'zod';
import { readStoreAddress } from '../redis/address.js';
import { LOG_LEVELS } from './model.js';
import { realmSchema } from './realm-schema.js';
import { block, choice, path, pattern, printable, wholeNumber } from './settings.js';

const MINUTE_MS = 60_000;
const RISK = /^[a-z][a-z0-9-]{1,63}$/;

/** No blanks, nothing that has a meaning in a path, a URL or a Redis hash tag. */
const REALM_NAME = /^[^\s/\\?#%{}\p{C}]{1,128}$/u;

/** The whole configuration, whatever it came from. Names are those of almoner.config.yaml. */
export const configSchema = block({
  redisUrl: z
    .string({ error: 'expected a URL that starts with redis:// or rediss://' })
    .superRefine((text, context) => {
      const read = readStoreAddress(text);
      if ('faults' in read) for (const message of read.faults) context.addIssue({ code: 'custom', message });
    })
    .nullable()
    .default(null),
  dataFolder: path('a folder').optional(),
  reportsFolder: path('a folder').optional(),
  jobsFolder: path('a folder').optional(),
  logLevel: choice(LOG_LEVELS).default('warn'),
  operator: printable('a name', 64).optional(),
  risks: z
    .array(pattern('a risk by its name, such as no-append-only', RISK), {
      error: 'expected a list of risks by their names',
    })
    .default([]),
  retentionDays: wholeNumber(0, 3_650).default(30),
  limits: block({
    lockMs: wholeNumber(500, 10 * MINUTE_MS).default(30_000),
    stalledMs: wholeNumber(1_000, 60 * MINUTE_MS).default(MINUTE_MS),
    mergePatienceMs: wholeNumber(100, 60 * MINUTE_MS).default(15_000),
    breakerHaltMs: wholeNumber(1_000, 24 * 60 * MINUTE_MS).default(15 * MINUTE_MS),
    stopMs: wholeNumber(1_000, 60 * MINUTE_MS)
      .nullable()
      .default(null),
    journalMegabytes: wholeNumber(1, 100_000).default(64),
    storeAnswerMs: wholeNumber(500, 10 * MINUTE_MS).default(10_000),
  }).prefault({}),
  realms: z
    .record(pattern('a realm name without blanks or any of / \\ ? # % { }', REALM_NAME), realmSchema, {
      error: (issue) =>
        issue.code === 'invalid_type' ? 'expected a block of realms by their names' : undefined,
    })
    .default({}),
});

export type ParsedConfig = z.output<typeof configSchema>;
