// Writes docs/configuration.md from the built schema (run `npm run build` first). The words of a setting stand in the
// schema itself (src/runtime/config), its unit is the end of its name, and what it takes is what the schema
// says when it is given something else.
import { realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const UNITS = [
  [/Ms$/, 'ms'],
  [/Days$/, 'days'],
  [/Minutes$/, 'minutes'],
  [/Megabytes$/, 'MB'],
  [/^maxTokens/, 'tokens'],
];

/** Every setting by its dotted name, blocks before what is in them; `NAME` stands for a name of one's own. */
export function settingsOf(schema, path = []) {
  const { block, entries } = opened(schema);
  const own = path.length === 0 ? [] : [{ name: path.join('.'), schema, block }];
  return [...own, ...entries.flatMap(([key, inner]) => settingsOf(inner, [...path, key]))];
}

function opened(schema) {
  const inner = bare(schema);
  if (inner.def.type === 'object') return { block: true, entries: Object.entries(inner.shape) };
  // A block of blocks under names of one's own; what holds plain values is a setting itself.
  if (inner.def.type !== 'record' || bare(inner.def.valueType).def.type !== 'object')
    return { block: false, entries: [] };
  return {
    block: true,
    entries: Object.entries(bare(inner.def.valueType).shape).map(([key, one]) => [`NAME.${key}`, one]),
  };
}

/** Without what stands around it: that it may be left out, or be null. */
function bare(schema) {
  return ['default', 'prefault', 'nullable', 'optional'].includes(schema.def.type)
    ? bare(schema.def.innerType)
    : schema;
}

/** What is missing for the page, as sentences that say where to put it. */
export function unsaid(configSchema) {
  return settingsOf(configSchema).flatMap(({ name, schema, block }) => {
    const { description, examples = [] } = schema.meta() ?? {};
    const home = `.meta(said('…'${block ? '' : ', an example'})) at the end of its chain in src/runtime/config`;
    if (!description) return [`${name} has no description: write ${home}`];
    if (block) return [];
    if (examples.length === 0) return [`${name} has no example: write ${home}`];
    return schema.safeParse(examples[0]).success
      ? []
      : [`the example of ${name} is refused by its own schema`];
  });
}

export function configurationPage({ configSchema, variables, rateWords }) {
  const missing = unsaid(configSchema);
  if (missing.length > 0) throw new Error(missing.join('\n'));
  const settings = settingsOf(configSchema);
  const words = new Map(settings.map(({ name, schema }) => [name, schema.meta().description]));
  const chapters = settings.filter(({ block }) => block);
  const chapterOf = (name) =>
    name
      .split('.')
      .slice(0, -1)
      .filter((part) => part !== 'NAME')
      .join('.');
  const rows = (chapter) =>
    settings
      .filter(({ name, block }) => !block && chapterOf(name) === chapter)
      .map(({ name, schema }) => row(name, schema, variables, rateWords));
  const table = (chapter) =>
    rows(chapter).length === 0
      ? []
      : [
          '',
          '| setting | means | takes | default | unit | example |',
          '|---|---|---|---|---|---|',
          ...rows(chapter),
        ];
  const lines = [
    ...HEAD,
    ...table(''),
    ...chapters.flatMap(({ name, schema }) => [
      '',
      `## ${name}`,
      '',
      schema.meta().description,
      ...table(
        name
          .split('.')
          .filter((part) => part !== 'NAME')
          .join('.'),
      ),
    ]),
    '',
    '## Environment variables',
    '',
    'An empty one counts as unset, and one that begins with `ALMONER_` and is not known is refused. `ALMONER_REALM_URL`,',
    '`ALMONER_REALM_ID` and a key together make a realm of their own; `ALMONER_RATE` and `ALMONER_CERTAINTY` are that',
    'realm’s, or where there is none all realms’ of the file.',
    '',
    '| variable | sets | means |',
    '|---|---|---|',
    ...variables.map(({ name, setting }) => variableRow(name, setting, words)),
  ];
  return `${lines.join('\n')}\n`;
}

const HEAD = [
  '# Configuration',
  '',
  'Defaults are overruled by `almoner.config.yaml` (in the folder where a command is started, or `--config FILE`), that',
  'by the environment, and that by options. Unknown names are refused with a hint. `almoner doctor` prints what is in use',
  'and where each value came from, with secrets masked; `almoner init` writes a first file.',
  '',
  'This page is written by `node scripts/write-config-docs.mjs`; a test holds it equal to the program. Examples are YAML.',
];

const WITHOUT_SETTING = {
  token:
    'A token of your own (`almoner desk token add`): who prepares and who approves, where a realm requires a second person. Never an argument of a command.',
  tokenFile: 'The file that holds it, instead.',
  config: 'The file to read instead of `almoner.config.yaml`.',
  'realms.NAME.key': 'The realm’s key itself. No setting holds it, so that it stands in no file of settings.',
};

function variableRow(name, setting, words) {
  const says = words.get(setting) ?? WITHOUT_SETTING[setting];
  if (says === undefined) throw new Error(`${name} sets ${setting}, of which nothing is said`);
  return `| \`${name}\` | ${words.has(setting) ? `\`${setting}\`` : ''} | ${cell(says)} |`;
}

function row(name, schema, variables, rateWords) {
  const { description, examples } = schema.meta();
  const key = name.split('.').at(-1);
  const unit = UNITS.find(([end]) => end.test(key))?.[1] ?? '';
  const variable = variables.find(({ setting }) => setting === name)?.name;
  const means = variable === undefined ? description : `${description} (\`${variable}\`)`;
  const example = `\`${key}: ${yaml(examples[0])}\``;
  return `| \`${key}\` | ${cell(means)} | ${cell(takes(schema))} | ${defaultOf(schema, rateWords)} | ${unit} | ${cell(example)} |`;
}

function takes(schema) {
  const { error } = schema.safeParse(() => {});
  return (error?.issues[0]?.message ?? '').replace(/^expected /, '');
}

function defaultOf(schema, rateWords) {
  const { success, data } = schema.safeParse(undefined);
  if (!success) return 'required';
  if (data === undefined) return 'unset';
  const isRate = typeof data === 'object' && data !== null && 'windowMs' in data;
  return `\`${isRate ? rateWords(data) : yaml(data)}\``;
}

/** Digits that are text keep their quotes. */
function yaml(value) {
  return typeof value === 'string' && !/^[0-9]/.test(value) && value !== '' ? value : JSON.stringify(value);
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

const here = fileURLToPath(import.meta.url);
if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === here) {
  const root = join(dirname(here), '..');
  const built = (file) =>
    import(pathToFileURL(join(root, process.env.ALMONER_TEST_DIST ?? 'dist', file)).href);
  const { configSchema } = await built('runtime/config/settings.js');
  const { VARIABLES } = await built('runtime/config/layers.js');
  const { formatRate } = await built('core/profile.js');
  const page = configurationPage({ configSchema, variables: VARIABLES, rateWords: formatRate });
  writeFileSync(join(root, 'docs', 'configuration.md'), page);
}
