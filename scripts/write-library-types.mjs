// Writes the library's types from the built schemas (run `npm run build` first): the values that it answers with from the
// views of src/operations/views, and the options of its calls from src/library/parse-input.ts. src/index.ts names both.
import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';

const LINE_MAX = 110;
const WRITTEN = '`node scripts/write-library-types.mjs` writes this file from';

/** src/library/output-types.ts, given all views by their names and the text of src/index.ts. */
export function outputTypes(views, index) {
  return typesFile(views, namesIn(index, 'output-types'), {
    // Codes keep the type of the catalogue, which programs get as well.
    imports: { ErrorCode: '../core/errors/catalogue.js' },
    known: ['ErrorCode'],
    intro: `The values that the library answers with. ${WRITTEN} the views in src/operations/views; a test holds it equal to them. Every value is plain and the same as in the \`--json\` of the command line: sums of tokens are strings of digits, because they may exceed what a JavaScript number holds; the amount of one order is a number; times are ISO 8601 in UTC.`,
  });
}

/** src/library/option-types.ts, given the schemas that options are read with. */
export function optionTypes(schemas, index) {
  return typesFile(schemas, namesIn(index, 'option-types'), {
    imports: {
      'ExpectedTokens, Sum': './input-types.js',
      'BatchProgress, BatchState, FoundBy': './output-types.js',
    },
    known: [],
    intro: `The options of the library's calls. ${WRITTEN} the schemas in parse-input.ts that read them; a test holds it equal to them.`,
  });
}

function namesIn(index, file) {
  const [, names = ''] =
    new RegExp(`export type \\{([^}]*)\\} from './library/${file}\\.js'`).exec(index) ?? [];
  return names.split(',').flatMap((name) => name.trim().split(' as ')[0] || []);
}

function typesFile(all, names, { imports, known, intro }) {
  const registry = z.registry();
  for (const name of [...known, ...names]) {
    if (all[name] === undefined) throw new Error(`src/index.ts exports ${name}, which has no schema`);
    registry.add(all[name], { id: name });
  }
  // Functions, signals and dates say their type themselves.
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => id, unrepresentable: 'any' });
  const head = Object.entries(imports).map(([name, path]) => `import type { ${name} } from '${path}';`);
  const types = [...names].sort().flatMap((name) => ['', ...declared(name, schemas)]);
  return `${[...head, '', ...comment(intro, ''), ...types].join('\n')}\n`;
}

function declared(name, schemas) {
  const schema = schemas[name];
  const head = comment(schema.description, '');
  if (schema.properties === undefined) return [...head, declaration(`export type ${name} =`, schema, '')];
  const base = baseOf(schema, schemas);
  const inherited = Object.keys(schemas[base]?.properties ?? {});
  const own = Object.entries(schema.properties).filter(([field]) => !inherited.includes(field));
  const title = base === undefined ? name : `${name} extends ${base}`;
  return [
    ...head,
    `export interface ${title} ${objectOf({ ...schema, properties: Object.fromEntries(own) }, '')}`,
  ];
}

/** The largest of the types whose fields are all among the schema's. */
function baseOf({ properties }, schemas) {
  const isPart = ([, one]) =>
    one.properties !== undefined &&
    one.properties !== properties &&
    Object.entries(one.properties).every(
      ([field, schema]) => JSON.stringify(schema) === JSON.stringify(properties[field]),
    );
  const sizeOf = ([, one]) => Object.keys(one.properties).length;
  return Object.entries(schemas)
    .filter(isPart)
    .sort((a, b) => sizeOf(b) - sizeOf(a))[0]?.[0];
}

/** A name with its type; a long union has a line for each of its parts. */
function declaration(head, schema, indent) {
  const line = `${indent}${head} ${typeOf(schema, indent)};`;
  const parts = unionOf(schema, `${indent}    `);
  if (parts.length < 2 || line.length <= LINE_MAX || line.includes('\n')) return line;
  return `${indent}${head}${parts.map((part) => `\n${indent}  | ${part}`).join('')};`;
}

function typeOf(schema, indent) {
  return unionOf(schema, indent).join(' | ');
}

/** The parts that a type is the union of; most have one. */
function unionOf(schema, indent) {
  if (schema.$ref !== undefined) return [schema.$ref];
  if (schema.typescript !== undefined) return [schema.typescript];
  if (schema.const !== undefined) return [literal(schema.const)];
  if (schema.enum !== undefined) return schema.enum.map(literal);
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return union.flatMap((one) => unionOf(one, indent));
  if (Array.isArray(schema.type)) return schema.type.flatMap((type) => unionOf({ ...schema, type }, indent));
  return [plainTypeOf(schema, indent)];
}

function plainTypeOf(schema, indent) {
  switch (schema.type) {
    case 'integer':
      return 'number';
    case 'array': {
      const parts = unionOf(schema.items, indent);
      return `readonly ${parts.length > 1 ? `(${parts.join(' | ')})` : parts[0]}[]`;
    }
    case 'object':
      return schema.properties === undefined ? recordOf(schema, indent) : objectOf(schema, indent);
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      throw new Error(`no type is known for ${JSON.stringify(schema)}`);
  }
}

function objectOf({ properties, required = [] }, indent) {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const isNeeded = required.includes(name);
    const head = `readonly ${name}${isNeeded ? '' : '?'}:`;
    const type = isNeeded ? field : { anyOf: [inParentheses(field), { enum: [undefined] }] };
    return [...comment(field.description, inner), declaration(head, type, inner)];
  });
  const inLine = fields.map((field) => field.join('').trim()).join(' ');
  const line = `{ ${inLine.replace(/;$/, '')} }`;
  const isShort = fields.every((field) => field.length === 1) && !line.includes('\n');
  if (indent !== '' && isShort && line.length <= LINE_MAX / 2) return line;
  return ['{', ...fields.flat(), `${indent}}`].join('\n');
}

/** A function that is one part of a union. */
function inParentheses(schema) {
  return schema.typescript?.startsWith('(') ? { typescript: `(${schema.typescript})` } : schema;
}

function recordOf({ propertyNames, additionalProperties, required }, indent) {
  const keys = propertyNames === undefined ? 'string' : typeOf(propertyNames, indent);
  const record = `Record<${keys}, ${typeOf(additionalProperties, indent)}>`;
  return `Readonly<${keys === 'string' || required !== undefined ? record : `Partial<${record}>`}>`;
}

function literal(value) {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function comment(text, indent) {
  if (text === undefined) return [];
  const line = `${indent}/** ${text} */`;
  if (line.length <= LINE_MAX) return [line];
  const lines = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= LINE_MAX) lines[lines.length - 1] = longer;
    else lines.push(`${indent} * ${word}`);
  }
  return [`${indent}/**`, ...lines, `${indent} */`];
}

const here = fileURLToPath(import.meta.url);
if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === here) {
  const root = join(dirname(here), '..');
  const dist = join(root, process.env.ALMONER_TEST_DIST ?? 'dist');
  const load = (...path) => import(pathToFileURL(join(dist, ...path)).href);
  const files = readdirSync(join(dist, 'operations', 'views')).filter((name) => name.endsWith('.js'));
  const views = Object.assign(
    {},
    ...(await Promise.all(files.map((name) => load('operations', 'views', name)))),
  );
  const options = await load('library', 'parse-input.js');
  const index = readFileSync(join(root, 'src', 'index.ts'), 'utf8');
  const library = join(root, 'src', 'library');
  writeFileSync(join(library, 'output-types.ts'), outputTypes(views, index));
  writeFileSync(join(library, 'option-types.ts'), optionTypes(options, index));
}
