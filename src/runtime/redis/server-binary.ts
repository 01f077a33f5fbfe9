import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { AlmonerError } from '../../core/errors/error.js';

const NAMES = ['redis-server', 'valkey-server'];
/** Where packages put the server although the PATH of an ordinary user or a service does not lead there. */
const USUAL_FOLDERS = [
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/opt/homebrew/bin',
  '/opt/homebrew/opt/redis/bin',
  '/usr/local/opt/redis/bin',
  '/home/linuxbrew/.linuxbrew/bin',
];

export async function findServerBinary(
  path: string = process.env.PATH ?? '',
  usualFolders: readonly string[] = USUAL_FOLDERS,
): Promise<string> {
  const folders = [...path.split(delimiter).filter((folder) => folder !== ''), ...usualFolders];
  for (const name of NAMES)
    for (const folder of folders) {
      const file = join(folder, name);
      if (
        await access(file, constants.X_OK).then(
          () => true,
          () => false,
        )
      )
        return file;
    }
  throw new AlmonerError(
    'ALM_STORE_NO_SERVER',
    'REDIS_URL is not set, and neither redis-server nor valkey-server is installed for the embedded store; nothing was started.',
  );
}
