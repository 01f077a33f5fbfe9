import { open } from 'node:fs/promises';

/** A name in a folder is durable only once the folder is. Windows opens no folder for this and sees to it itself. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(folder, 'r');
  await directory.sync().finally(() => directory.close());
}
