import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

export function homeOf(env: NodeJS.ProcessEnv): string {
  return env.HOME !== undefined && isAbsolute(env.HOME) ? env.HOME : homedir();
}

/** `~` is the home folder, also where no shell has expanded it: in a YAML file or a compose file. */
export function resolvePath(text: string, base: string, home: string): string {
  if (text === '~') return home;
  return text.startsWith('~/') ? join(home, text.slice(2)) : resolve(base, text);
}

/** One data folder per user, so that books do not depend on where a command happens to be started. */
export function defaultDataFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const xdg = env.XDG_DATA_HOME;
  // The XDG rules say that a relative value is to be ignored.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'almoner');
  if (platform === 'darwin') return join(homeOf(env), 'Library', 'Application Support', 'almoner');
  return join(homeOf(env), '.local', 'share', 'almoner');
}

/** Containers often run under a number that has no name; the audit then shows the number. */
export function systemUser(env: NodeJS.ProcessEnv): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER ?? env.LOGNAME ?? `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
