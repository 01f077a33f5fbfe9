import { join } from 'node:path';

export function archiveFolder(dataFolder: string): string {
  return join(dataFolder, 'archive');
}
