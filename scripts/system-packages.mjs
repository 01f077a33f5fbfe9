// Finds programs, and installs missing ones from the system's own packages where that is allowed.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first of the names that can be run, on the PATH or in one of the further folders; else null. */
export function findProgram(names, furtherFolders = [], path = process.env.PATH ?? '') {
  const folders = [...path.split(delimiter).filter((folder) => folder !== ''), ...furtherFolders];
  for (const name of names)
    for (const folder of folders) if (canRun(join(folder, name))) return join(folder, name);
  return null;
}

export function canRun(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** How this machine may install packages: `apt`, `apt` through sudo, `brew`, or null. */
export function chooseInstaller({ platform, isRoot, has, sudoNeedsNoPassword }) {
  if (platform === 'darwin') return has('brew') ? { tool: 'brew', prefix: [] } : null;
  if (platform !== 'linux' || !has('apt-get')) return null;
  if (isRoot) return { tool: 'apt', prefix: [] };
  return has('sudo') && sudoNeedsNoPassword() ? { tool: 'apt', prefix: ['sudo', '-n'] } : null;
}

function installerHere() {
  return chooseInstaller({
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    has: (name) => findProgram([name]) !== null,
    sudoNeedsNoPassword: () => spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0,
  });
}

/**
 * Finds a program, installing it when it is missing. `find` looks for it; `apt` and `brew` are the
 * arguments that install it; `ways` is told where neither may. Throws with a message for people.
 */
export function ensureProgram({ title, find, apt, brew, ways }) {
  const present = find();
  if (present !== null) return { path: present, installed: false };

  const installer = installerHere();
  if (installer === null)
    throw new Error(`${title} is missing, and this user may not install packages.\n${ways}`);
  console.log(`${title} is missing; installing it from the system's packages.`);
  if (installer.tool === 'brew') run(['brew', 'install', ...brew]);
  else installWithApt(installer.prefix, apt, find);

  const path = find();
  if (path === null) throw new Error(`${title} is still missing after the installation; see above.\n${ways}`);
  return { path, installed: true, prefix: installer.prefix };
}

function installWithApt(prefix, packages, find) {
  // RUNLEVEL=1 keeps a package from starting its service, where the init system asks for it.
  const aptGet = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1', 'apt-get'];
  const update = () => run([...aptGet, 'update', '-q']);
  const install = (...more) =>
    run([
      ...aptGet,
      ...['install', '-y', '-q', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120'],
      ...more,
      ...packages,
    ]);
  // Images come without package lists, and old lists name files that are gone: both need an update.
  const updated = !hasPackageLists() && update();
  if (!install() && !updated && update()) install();
  // Known to the package manager, yet not there: somebody removed the file.
  if (find() === null) install('--reinstall');
}

function hasPackageLists() {
  const lists = '/var/lib/apt/lists';
  return existsSync(lists) && readdirSync(lists).some((name) => name.includes('_Packages'));
}

/** Runs a command in plain sight; true when it succeeded. */
export function run([command, ...args]) {
  console.log(`$ ${[command, ...args].join(' ')}`);
  return spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}

/** For a script that can do nothing without the program: tells the ways to install it, and ends the script. */
export function orExit(ensure) {
  try {
    return ensure();
  } catch (error) {
    console.error(error.message);
    return process.exit(2);
  }
}
