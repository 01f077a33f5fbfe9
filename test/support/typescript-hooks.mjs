// Module hooks: `./x.js` of a source file is `./x.ts`, without its types.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'rolldown/utils';

export async function resolve(specifier, context, next) {
  if (!/^(\.|file:).*\.js$/.test(specifier)) return next(specifier, context);
  const url = new URL(specifier, context.parentURL).href.replace(/\.js$/, '.ts');
  return existsSync(fileURLToPath(url))
    ? { url, format: 'module', shortCircuit: true }
    : next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const path = fileURLToPath(url);
  const { code, errors } = transformSync(path, await readFile(path, 'utf8'), { tsconfig: false });
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  return { format: 'module', source: code, shortCircuit: true };
}
