import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Ran } from './almoner.js';

/**
 * A new user at a shell: an empty home folder, no configuration, nothing installed but what they install. npm shares
 * its cache, so that no package is downloaded twice.
 */
export type Stranger = {
  readonly home: string;
  /** The prefix for `npm link` and `npm i -g`. */
  readonly prefix: string;
  readonly dataFolder: string;
  /** Runs lines as a shell does when they are pasted. */
  shell(lines: string | readonly string[], cwd: string, more?: NodeJS.ProcessEnv): Promise<Ran>;
  /** The same at a terminal; it answers the question that ends in the given text. */
  terminal(
    lines: readonly string[],
    cwd: string,
    answer: { readonly to: RegExp; readonly with: string },
  ): Promise<Ran>;
};

const KEPT =
  /^(PATH|LANG|LC_ALL|TMPDIR|NODE_EXTRA_CA_CERTS|(https?|no|all)_proxy|npm_config_(registry|globalconfig))$/i;

export function stranger(home: string): Stranger {
  const prefix = join(home, 'global');
  mkdirSync(join(prefix, 'lib'), { recursive: true });
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name))),
    HOME: home,
    SHELL: '/bin/bash',
    NO_COLOR: '1',
    PATH: `${join(prefix, 'bin')}${delimiter}${process.env.PATH ?? ''}`,
    npm_config_prefix: prefix,
    npm_config_cache: npmSetting('cache'),
    npm_config_userconfig: npmSetting('userconfig'),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
  return {
    home,
    prefix,
    dataFolder:
      process.platform === 'darwin'
        ? join(home, 'Library', 'Application Support', 'almoner')
        : join(home, '.local', 'share', 'almoner'),
    shell(lines, cwd, more = {}) {
      const script = typeof lines === 'string' ? lines : lines.join('\n');
      const child = spawn('bash', ['-c', script], { cwd, env: { ...env, ...more }, stdio: 'pipe' });
      child.stdin.end();
      return ended(child);
    },
    terminal(lines, cwd, answer) {
      const script = lines.join('\n');
      // The two implementations of `script` take the command in different ways; both give it a terminal.
      const args =
        process.platform === 'darwin'
          ? ['-q', '/dev/null', 'bash', '-c', script]
          : ['-q', '-e', '-c', script, '/dev/null'];
      const child = spawn('script', args, { cwd, env, stdio: 'pipe' });
      let [seen, answered] = ['', false];
      child.stdout.on('data', (chunk: Buffer) => {
        seen += chunk.toString('utf8');
        if (answered || !answer.to.test(seen)) return;
        answered = true;
        child.stdin.write(`${answer.with}\n`);
      });
      return ended(child);
    },
  };
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<Ran> {
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  await once(child, 'close');
  return { status: child.exitCode, stdout, stderr };
}

function npmSetting(name: string): string {
  return spawnSync('npm', ['config', 'get', name], { encoding: 'utf8' }).stdout.trim();
}
