// Writes docs/reference/errors.md from the built catalogue (run `npm run build` first). Each table of src/core/errors is
// one chapter; its comment is the chapter's first sentence.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { wrapped } from './wrapped.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const built = join(root, process.env.ALMONER_TEST_DIST ?? 'dist', 'core', 'errors');
const { CATALOGUE } = await import(pathToFileURL(join(built, 'catalogue.js')).href);

const EXITS = {
  1: 'a bug or an unexpected failure',
  2: 'usage or configuration',
  3: 'input refused, nothing was sent',
  4: 'finished, but some orders are dead, in doubt, invalid or cancelled',
  5: 'halted or paused, resumable',
  130: 'interrupted, resumable',
};

const lines = [
  '# Errors',
  '',
  'Each entry has the code, the exit status in brackets, the meaning, and what to do. Codes are stable. The message beside a',
  'code describes the single case. With `--json`, stdout holds `{"error": {"code", "message", "details", "next"}}`.',
  '',
  '`node scripts/write-error-docs.mjs` writes this page. A test compares it with the program.',
  '',
  '| exit | meaning |',
  '|---|---|',
  '| 0 | every order paid or duplicate; or the plan is clean |',
  ...Object.entries(EXITS).map(([exit, meaning]) => `| ${exit} | ${meaning} |`),
];

const sources = join(root, 'src', 'core', 'errors');
const texts = readdirSync(sources).map((name) => readFileSync(join(sources, name), 'utf8'));
const chapters = texts.flatMap((text) => [
  ...text.matchAll(/\/\*\* ([^\n]+) \*\/\nexport const ([A-Z]+)_ERRORS = \{\n(.*?)\n\};/gs),
]);
const written = new Set();
for (const [, intro, name, body] of chapters.sort(([, , a], [, , b]) => (a < b ? -1 : 1))) {
  lines.push('', `## ${name[0]}${name.slice(1).toLowerCase()}`, '', intro, '');
  const codes = [...body.matchAll(/^ {2}(ALM_[A-Z_]+): /gm)].map(([, code]) => code);
  for (const code of codes.sort()) {
    const { means, next, exit } = CATALOGUE[code];
    // The backslash is Markdown's line break.
    lines.push(...wrapped(`- \`${code}\` (${exit}) ${means}\\`, '  '), ...wrapped(`  ${next}`, '  '));
    written.add(code);
  }
}

const left = Object.keys(CATALOGUE).filter((code) => !written.has(code));
if (left.length > 0) throw new Error(`no source file was found for: ${left.join(', ')}`);
writeFileSync(join(root, 'docs', 'reference', 'errors.md'), `${lines.join('\n')}\n`);
