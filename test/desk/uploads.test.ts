import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { type PlannedUpload, UPLOAD_LIMITS, type Upload, Uploads } from '../../src/desk/http/uploads.js';
import { until } from '../support/until.js';

let folder = '';
let uploads: Uploads;
/** Plans that were begun, are held open, and whose making waits. */
const seen = { begun: 0, underWay: 0, most: 0, open: 0 };
let finish: (() => void)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almoner-uploads-'));
  uploads = new Uploads(folder, UPLOAD_LIMITS);
  Object.assign(seen, { begun: 0, underWay: 0, most: 0, open: 0 });
  finish = [];
});
afterEach(async () => {
  await uploads.close();
  await rm(folder, { recursive: true, force: true });
});

const received = () => uploads.receive(Readable.from(['x']), 'a.csv', 1, 'olga');

/** Stands in for what the desk is given: a plan that is open until it is closed. */
async function make(): Promise<PlannedUpload> {
  seen.begun += 1;
  seen.most = Math.max(seen.most, ++seen.underWay);
  await new Promise<void>((resolve) => {
    finish.push(resolve);
  });
  seen.underWay -= 1;
  seen.open += 1;
  let closed = false;
  return {
    document: JSON.parse('{}'),
    verdict: 'same',
    sheet: null,
    unseen: [],
    writeFaults: () => {},
    enqueue: () => Promise.reject(new Error('not here')),
    close() {
      seen.open -= closed ? 0 : 1;
      closed = true;
    },
  };
}

const preview = (upload: Upload) => uploads.preview(upload, '{}', make);

test('one plan of an upload is made at a time, and one is held', async () => {
  const upload = await received();
  const asked = Array.from({ length: 8 }, () => preview(upload));
  for (let made = 1; made <= 8; made++) {
    await until('the next plan', () => seen.begun === made);
    finish.at(-1)?.();
  }
  await Promise.all(asked);
  expect(seen).toMatchObject({ most: 1, open: 1 });
  await uploads.remove(upload.id);
  expect(seen.open).toBe(0);
  expect(await readdir(folder)).toEqual([]);
});

test('what is made for an upload that is gone is closed at once, and no further one is begun', async () => {
  const upload = await received();
  const asked = [preview(upload), preview(upload)].map((one) => one.catch((error: unknown) => error));
  await until('the first plan', () => seen.begun === 1);
  await uploads.close();
  finish[0]?.();
  for (const error of await Promise.all(asked))
    expect(error).toMatchObject({ code: 'ALM_DESK_UPLOAD_UNKNOWN' });
  expect(seen).toMatchObject({ begun: 1, open: 0 });
});

test('a plan that fails for want of an upload that is gone says that the upload is unknown', async () => {
  const upload = await received();
  const asked = uploads.preview(upload, '{}', async () => {
    await uploads.remove(upload.id);
    throw new Error('the file is not there');
  });
  await expect(asked).rejects.toMatchObject({ code: 'ALM_DESK_UPLOAD_UNKNOWN' });
});
