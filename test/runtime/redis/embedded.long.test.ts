import { describe, it } from 'vitest';
import { dataFolders } from '../../support/data-folder.js';
import { onDisk } from '../../support/on-disk.js';
import { oneServerForAll, openAcrossShutdowns } from './embedded-commands.js';

onDisk();

const newFolder = dataFolders();

describe('the embedded Redis', () => {
  it('is one for 20 commands started at once on an empty folder, and the last one ends it', async () => {
    await oneServerForAll(await newFolder(), 20);
  });

  it('serves every command that starts while the last one shuts it down', async () => {
    await openAcrossShutdowns(await newFolder(), 15);
  });
});
