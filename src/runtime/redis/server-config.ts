import type { StoreFolder } from './folder.js';

/**
 * The embedded server's settings. They go through a file for its owner only, so that the password never
 * stands in argv, and not through stdin: a starter killed half-way would leave a server without settings.
 */
export function serverConfig(folder: StoreFolder): string {
  return [
    '# Written by almoner before every start; changes made here are lost.',
    'bind 127.0.0.1',
    `port ${folder.port}`,
    'protected-mode yes',
    `requirepass ${quote(folder.password)}`,
    `dir ${quote(folder.path)}`,
    'daemonize no',
    'logfile ""',
    'loglevel notice',
    '# A write is acknowledged only when it is on disk, also while the file is being rewritten.',
    'appendonly yes',
    'appendfsync always',
    'no-appendfsync-on-rewrite no',
    '# A torn tail is a write that nobody was told of: cut it and start.',
    'aof-load-truncated yes',
    'save ""',
    'maxmemory 0',
    'maxmemory-policy noeviction',
    '',
  ].join('\n');
}

/** Redis reads double quotes with C-like escapes; a folder's name may hold anything. */
function quote(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replace(/[\x00-\x1f]/g, (control) => {
    return `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}
