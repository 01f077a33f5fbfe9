import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Here } from '../../../src/ledger/here/liveness.js';
import { ensurePlace, type Machine, readPlace, thisMachine } from '../../../src/ledger/here/place.js';
import { Session } from '../../../src/ledger/sessions/session.js';
import { tempFolder } from '../../support/temp-folder.js';

const run = promisify(execFile);

async function place(folder: string): Promise<string> {
  await ensurePlace(folder);
  const found = await readPlace(folder);
  if (found === undefined) throw new Error(`${folder} has no id`);
  return found.id;
}

async function openSession(folder: string): Promise<Session> {
  const session = await Session.open('run', folder);
  onTestFinished(() => session.close());
  return session;
}

/** The liveness check of another machine, or of this one under other circumstances. */
async function onlooker(folder: string, facts: Partial<Machine> = {}): Promise<Here> {
  return new Here(folder, Promise.resolve({ ...(await thisMachine()), ...facts }));
}

describe('a data folder', () => {
  test('keeps its id when it is moved', async () => {
    const folder = join(await tempFolder(), 'data');
    await mkdir(folder);
    const id = await place(folder);
    expect(await place(folder)).toBe(id);
    await rename(folder, `${folder}-moved`);
    expect(await place(`${folder}-moved`)).toBe(id);
  });

  test('gets a new id when it is copied by any means, and the copy keeps its own id', async () => {
    const folder = await tempFolder();
    const id = await place(folder);
    const ids = new Set([id]);
    for (const copy of [['cp', '-a'], ['cp', '-al'], ['tar']]) {
      const target = join(await tempFolder(), 'copy');
      if (copy[0] === 'tar') {
        await mkdir(target);
        await run('sh', ['-c', `tar -C '${folder}' -cf - . | tar -C '${target}' -xf -`]);
      } else await run('cp', [copy[1] ?? '', folder, target]);
      expect(await readFile(join(target, 'place.json'))).toEqual(await readFile(join(folder, 'place.json')));
      const other = await place(target);
      expect(await place(target)).toBe(other);
      ids.add(other);
    }
    expect(ids.size).toBe(4);
    expect(await place(folder)).toBe(id);
  });

  test('has one id for twenty processes that start at once', async () => {
    const folder = join(await tempFolder(), 'new');
    const sessions = await Promise.all(Array.from({ length: 20 }, () => openSession(folder)));
    expect(new Set(sessions.map(({ entry }) => entry.placeId))).toEqual(new Set([await place(folder)]));
    expect((await readdir(folder)).sort()).toEqual(['journal', 'place.json', 'sessions']);
  });

  test('has one stable id for all processes if its note is torn or empty', async () => {
    for (const torn of ['{"place":"0123', '']) {
      const folder = await tempFolder();
      await writeFile(join(folder, 'place.json'), torn);
      const sessions = await Promise.all(Array.from({ length: 20 }, () => openSession(folder)));
      const [{ birthtimeNs }, ids] = [
        await stat(join(folder, 'place.json'), { bigint: true }),
        new Set(sessions.map(({ entry }) => entry.placeId)),
      ];
      // Without birth times such a note proves nothing, and the folder has no usable id.
      expect(ids).toEqual(new Set([birthtimeNs === 0n ? '' : await place(folder)]));
    }
  });
});

describe('a session of an earlier boot', () => {
  test('is dead in its own folder on a local file system, under any host name', async () => {
    const folder = await tempFolder();
    const session = await openSession(folder);
    const later = await onlooker(folder, { boot: 'later', name: 'renamed', space: 'new' });
    expect(await later.liveness(session.entry)).toBe('alive');
    await session.close();
    expect(await later.liveness(session.entry)).toBe('dead');
    // Also if its socket did not survive the boot.
    await rm(session.entry.socket);
    expect(await later.liveness(session.entry)).toBe('dead');
  });

  test('counts as remote on a network volume: its own machine may be running', async () => {
    const folder = await tempFolder();
    const session = await openSession(folder);
    const placeAt = async (at: string) => ({
      id: (await readPlace(at))?.id ?? '',
      number: '',
      isLocal: false,
    });
    const other = await onlooker(folder, { boot: 'other', placeAt });
    await session.close();
    expect(await other.liveness(session.entry)).toBe('elsewhere');
    await rm(session.entry.socket);
    expect(await other.liveness(session.entry)).toBe('elsewhere');
  });

  test('counts as remote from a copy of its folder, wherever the copy lies', async () => {
    const folder = await tempFolder();
    const session = await openSession(folder);
    const copy = join(await tempFolder(), 'copy');
    await run('cp', ['-a', folder, copy]);
    const original = `${folder}-away`;
    onTestFinished(() => rm(original, { recursive: true }));
    // On another machine, at another path, and at the very path that the session recorded.
    const other = await onlooker(copy, { boot: 'other', space: 'other' });
    await rename(folder, original);
    expect(await other.liveness(session.entry)).toBe('elsewhere');
    await rename(copy, folder);
    const inPlace = await onlooker(folder, { boot: 'other', space: 'other' });
    expect(await inPlace.liveness(session.entry)).toBe('elsewhere');
    // Also within the same boot, where the copied socket file would refuse.
    const container = await onlooker(folder, { space: 'other' });
    expect(await container.liveness(session.entry)).toBe('elsewhere');
    expect(await (await onlooker(folder)).liveness(session.entry)).toBe('alive');
    const moved = await onlooker(original, { space: 'other' });
    expect(await moved.liveness(session.entry)).toBe('alive');
  });

  test('counts as remote if no folder was recorded', async () => {
    const folder = await tempFolder();
    const session = await openSession(folder);
    await session.close();
    const later = await onlooker(folder, { boot: 'later' });
    expect(await later.liveness({ ...session.entry, placeId: '' })).toBe('elsewhere');
    // Within the same boot the folder itself is enough.
    expect(await (await onlooker(folder)).liveness({ ...session.entry, placeId: '' })).toBe('dead');
  });
});

describe('where the boot cannot be identified', () => {
  test('a refused connection counts only from the same folder on a local file system, silence never', async () => {
    const folder = await tempFolder();
    const session = await openSession(folder);
    const untold = await onlooker(folder, { boot: '', space: 'other' });
    const placeAt = async (at: string) => ({
      id: (await readPlace(at))?.id ?? '',
      number: '',
      isLocal: false,
    });
    const onNetwork = await onlooker(folder, { boot: '', placeAt });
    expect(await untold.liveness(session.entry)).toBe('alive');
    await session.close();
    expect(await untold.liveness(session.entry)).toBe('dead');
    expect(await onNetwork.liveness(session.entry)).toBe('elsewhere');
    expect(await untold.liveness({ ...session.entry, place: '1:2' })).toBe('elsewhere');
    await rm(session.entry.socket);
    expect(await untold.liveness(session.entry)).toBe('elsewhere');
    expect(await untold.liveness({ ...session.entry, boot: '' })).toBe('elsewhere');
  });
});
