import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve('.');

/**
 * A clone as a stranger gets it, holding what stands in the working tree now: a test of yesterday's commit
 * would say nothing about today's change. Nothing ignored comes along, neither node_modules nor a build.
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
 * Links stay behind: an untracked `node_modules` that links to somebody's real one would be emptied through
 * the link by the clone's `npm ci`.
 */
function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Sources that came as an archive have no history to clone. */
function copyAll(into: string): void {
  const left = /(^|\/)(node_modules|dist|reports|coverage|\.build-[^/]*|\.almoner)$/;
  cpSync(ROOT, into, {
    recursive: true,
    filter: (from) => !left.test(from) && !lstatSync(from).isSymbolicLink(),
  });
}

function git(args: readonly string[], cwd: string): string {
  // A checkout owned by another user, as in a container, is still the one under test.
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
