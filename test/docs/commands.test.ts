import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Command, flagOf } from '../../src/cli/frame/command.js';
import { loadCommand, TABLE } from '../../src/cli/frame/table.js';

type InGroup = Command & { readonly group: string };
type Page = (commands: readonly InGroup[], flagOf: (name: string) => string) => string;

const { commandsPage } = z
  .object({ commandsPage: z.custom<Page>((value) => typeof value === 'function') })
  .parse(await import(resolve('scripts/write-command-docs.mjs')));

test('docs/reference/commands.md says exactly what the program says (node scripts/write-command-docs.mjs writes it)', async () => {
  const commands = await Promise.all(
    TABLE.map(async (entry) => ({ ...(await loadCommand(entry)), group: entry.group })),
  );
  expect(readFileSync('docs/reference/commands.md', 'utf8')).toBe(commandsPage(commands, flagOf));
});
