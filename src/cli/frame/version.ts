import { readFileSync } from 'node:fs';

/** Read from package.json, so that a release changes one file. */
export function version(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const parsed: unknown = JSON.parse(text);
  const found =
    typeof parsed === 'object' && parsed !== null && 'version' in parsed ? parsed.version : undefined;
  if (typeof found !== 'string') throw new Error('package.json has no version');
  return found;
}
