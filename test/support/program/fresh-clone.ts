import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve('.');

/**
 * Clones the repository with the current content of the working tree: a clone of the last commit would not test today's
 * change. Ignored files are left out, so there is no node_modules and no build.
 */
export function freshClone(into: string): void {
  if (existsSync(join(ROOT, '.git'))) cloneTree(into);
  else copyAll(into);
}

function cloneTree(into: string): void {
  git(['clone', '--quiet', '--no-hardlinks', ROOT, into], ROOT);
  const present = new Set(
    git(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], ROOT).split('\0'),
  );
  for (const name of git(['ls-files', '-z'], into).split('\0'))
    if (name !== '' && !existsSync(join(ROOT, name))) rmSync(join(into, name));
  for (const name of present)
    if (name !== '' && isFile(join(ROOT, name))) cpSync(join(ROOT, name), join(into, name));
}

/**
 * Links are not copied: an untracked `node_modules` may link to a real one, and `npm ci` in the clone would empty it.
 */
function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Copies everything, because sources from an archive have no history to clone. */
function copyAll(into: string): void {
  const left = /(^|\/)(node_modules|dist|reports|coverage|\.build-[^/]*|\.almoner)$/;
  cpSync(ROOT, into, {
    recursive: true,
    filter: (from) => !left.test(from) && !lstatSync(from).isSymbolicLink(),
  });
}

function git(args: readonly string[], cwd: string): string {
  // Git refuses a checkout that another user owns, as in a container, unless it is declared safe.
  const env = {
    ...process.env,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
  };
  const ran = spawnSync('git', args, { cwd, env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (ran.status !== 0) throw new Error(`git ${args[0]} failed: ${ran.stderr}`);
  return ran.stdout;
}
