import { open } from 'node:fs/promises';

/** A name in a folder is durable only once the folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const directory = await open(folder, 'r');
  await directory.sync().finally(() => directory.close());
}
