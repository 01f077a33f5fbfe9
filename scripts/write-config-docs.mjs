// Writes docs/reference/configuration.md from the built schema (run `npm run build` first). The words of a setting stand in the
// schema itself (src/runtime/config), its unit is the end of its name, and what it takes is what the schema
// says when it is given something else.
import { realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { wrapped } from './wrapped.mjs';

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
  const inBlock = (block) =>
    settings.filter((one) => !one.block && one.name.split('.').slice(0, -1).join('.') === block);
  const chapter = ({ name, schema }) => {
    // A block may stand at the top and in a realm: it is described once.
    const inner = name.replace('realms.NAME.', '');
    if (inner !== name && settings.some((one) => one.block && one.name === inner))
      return inner.includes('.')
        ? []
        : [
            '',
            `## ${name}`,
            '',
            schema.meta().description,
            `It takes the settings of [${inner}](#${inner}).`,
          ];
    const rows = inBlock(name === 'realms' ? 'realms.NAME' : name);
    return [
      '',
      `## ${name}`,
      '',
      ...wrapped(schema.meta().description),
      ...(rows.length === 0 ? [] : ['', ...rows.flatMap((one) => item(one, variables, rateWords))]),
    ];
  };
  const known = new Set(settings.map(({ name }) => name));
  const lines = [
    ...HEAD,
    '',
    ...inBlock('').flatMap((one) => item(one, variables, rateWords)),
    ...settings.filter(({ block }) => block).flatMap(chapter),
    '',
    '## Environment variables',
    '',
    ...ENVIRONMENT,
    '',
    ...variables.flatMap(({ name, setting }) => wrapped(variableItem(name, setting, known), '  ')),
  ];
  return `${lines.join('\n')}\n`;
}

const HEAD = [
  '# Configuration',
  '',
  'The configuration file `almoner.config.yaml` overrides the defaults, the environment overrides the file, and options',
  'override both. `--config FILE` names another file. almoner refuses unknown names with a hint. `almoner init` writes a first',
  'file. `almoner doctor` prints each value with its origin and masks secrets.',
  '',
  'Each entry has the name, the meaning, the accepted values, the default and an example in YAML. The end of a name is its unit:',
  '`Ms` for milliseconds, `Days`, `Minutes`, `Megabytes`. `NAME` stands for a name of your own.',
  '',
  '`node scripts/write-config-docs.mjs` writes this page. A test compares it with the program.',
];

const ENVIRONMENT = [
  'An empty variable counts as unset. almoner refuses an unknown variable that begins with `ALMONER_`. `ALMONER_REALM_URL`,',
  '`ALMONER_REALM_ID` and a key together make a realm. `ALMONER_RATE` and `ALMONER_CERTAINTY` apply to that realm; without',
  'one they apply to every realm of the file.',
];

const WITHOUT_SETTING = {
  token:
    'your own desk token: it names who prepares and who approves, where a realm requires a second person. Never an argument.',
  tokenFile: 'the file that holds your desk token.',
  config: 'the file to read instead of `almoner.config.yaml`.',
  'realms.NAME.key': 'the realm’s key itself. It has no setting, so that no configuration file holds it.',
};

function variableItem(name, setting, known) {
  const says = known.has(setting) ? `sets \`${setting}\`` : WITHOUT_SETTING[setting];
  if (says === undefined) throw new Error(`${name} sets ${setting}, of which nothing is said`);
  return `- \`${name}\`: ${says}`;
}

function item({ name, schema }, variables, rateWords) {
  const { description, examples } = schema.meta();
  const key = name.split('.').at(-1);
  const variable = variables.find(({ setting }) => setting === name)?.name;
  const example = `\`${key}: ${yaml(examples[0])}\``;
  const facts = [takes(schema), defaultOf(schema, rateWords), example];
  return [
    // The backslash is Markdown's line break.
    ...wrapped(`- \`${key}\`${variable === undefined ? '' : ` (\`${variable}\`)`}: ${description}\\`, '  '),
    ...wrapped(`  ${facts.join('; ')}`, '  '),
  ];
}

function takes(schema) {
  const { error } = schema.safeParse(() => {});
  return (error?.issues[0]?.message ?? '').replace(/^expected /, '');
}

function defaultOf(schema, rateWords) {
  const { success, data } = schema.safeParse(undefined);
  if (!success) return 'required';
  if (data === undefined) return 'default unset';
  const isRate = typeof data === 'object' && data !== null && 'windowMs' in data;
  return `default \`${isRate ? rateWords(data) : yaml(data)}\``;
}

/** Digits that are text keep their quotes. */
function yaml(value) {
  return typeof value === 'string' && !/^[0-9]/.test(value) && value !== '' ? value : JSON.stringify(value);
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
  writeFileSync(join(root, 'docs', 'reference', 'configuration.md'), page);
}
