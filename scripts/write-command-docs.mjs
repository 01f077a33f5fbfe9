// Writes docs/reference/commands.md from the command line’s own table, descriptions and options.
import { realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { wrapped } from './wrapped.mjs';

const HEAD = [
  '# Commands',
  '',
  'Every command also takes `--help`, `--json` (one JSON document on stdout and nothing else), `--config FILE`,',
  '`--realm NAME` and `--log-level LEVEL`. BATCH is a batch id, a unique prefix of one, or `last`. FILE may be `-` for',
  'standard input. An option marked … may be repeated. [Errors](errors.md) lists the exit statuses.',
  '',
  '`node scripts/write-command-docs.mjs` writes this page. A test compares it with the program.',
];

/** `commands`: each with its group, in the order of the table; `flagOf`: how an option is typed. */
export function commandsPage(commands, flagOf) {
  const described = commands.map((command) => ({
    ...command,
    texts: Object.entries(command.options).map(([name, { value, repeated, description }]) => ({
      flag: `\`${flagOf(name)}\``,
      text: `\`${flagOf(name)}${value === null ? '' : ` ${value}`}\`${repeated ? '…' : ''} ${description}`,
    })),
  }));
  const chapters = [...new Set(described.map(({ group }) => group))].map((group) => {
    const members = described.filter((command) => command.group === group);
    return { group, commands: members, common: commonOptions(members) };
  });
  const shared = sharedOptions(chapters);
  const lines = [
    ...HEAD,
    ...chapters.flatMap((one) => chapter(one, shared)),
    '',
    '## Shared options',
    '',
    'These options mean the same in several commands.',
    '',
    ...[...shared].sort().flatMap(item),
  ];
  return `${lines.join('\n')}\n`;
}

const item = (text) => wrapped(`- ${text}`, '  ');

/** Options that every command of a group takes in the same words. */
function commonOptions([first, second, ...others]) {
  if (second === undefined) return new Set();
  const has = (text) => [second, ...others].every(({ texts }) => texts.some((other) => other.text === text));
  return new Set(first.texts.map(({ text }) => text).filter(has));
}

function chapter({ group, commands, common }, shared) {
  return [
    '',
    `## ${group}`,
    ...(common.size === 0 ? [] : ['', 'Each of these commands takes:', '', ...[...common].flatMap(item)]),
    ...commands.flatMap((command) => entry(command, common, shared)),
  ];
}

function entry({ name, description, arguments: args, texts }, common, shared) {
  const left = texts.filter(({ text }) => !common.has(text));
  const others = left.filter(({ text }) => shared.has(text)).map(({ flag }) => flag);
  const own = left.filter(({ text }) => !shared.has(text));
  const words = Object.entries(args).map(([key, spec]) => {
    const word = `${key.toUpperCase()}${spec.variadic ? '…' : ''}`;
    return spec.required ? word : `[${word}]`;
  });
  return [
    '',
    `### ${['almoner', name, ...words].join(' ')}`,
    '',
    ...wrapped(description),
    ...(left.length === 0 ? [] : ['']),
    ...own.flatMap(({ text }) => item(text)),
    ...(others.length === 0 ? [] : item(`Shared: ${others.join(', ')}`)),
  ];
}

/** Options that three or more other commands take in the same words: they are described once, at the end. */
function sharedOptions(chapters) {
  const counts = new Map();
  for (const { commands, common } of chapters)
    for (const { text } of commands.flatMap(({ texts }) => texts))
      if (!common.has(text)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return new Set([...counts].filter(([, count]) => count >= 3).map(([text]) => text));
}

const here = fileURLToPath(import.meta.url);
if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === here) {
  const root = join(dirname(here), '..');
  // The built command line is one bundle, which exports no table. Only this needs vite, which loads slowly.
  const { createServer } = await import('vite');
  const sources = await createServer({
    root,
    configFile: false,
    appType: 'custom',
    logLevel: 'error',
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  });
  const load = (file) => sources.ssrLoadModule(`/src/cli/${file}.ts`);
  const { TABLE, moduleNameOf, isCommand } = await load('frame/table');
  const { flagOf } = await load('frame/command');
  const commands = [];
  for (const { name, group } of TABLE) {
    const loaded = Object.values(await load(`commands/${moduleNameOf(name)}`));
    commands.push({ ...loaded.filter(isCommand).find((one) => one.name === name), group });
  }
  writeFileSync(join(root, 'docs', 'reference', 'commands.md'), commandsPage(commands, flagOf));
  await sources.close();
}
