import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { batchId } from '../../core/ids.js';
import { planning, syncFolder } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { counted } from '../../words/spelling.js';
import { configuredProfile } from '../batches/batch-realm.js';
import { recordIn } from '../people/audit.js';

/**
 * References that were paid elsewhere. No journal tells of them, so a restored store would pay them: each file that was added
 * is kept in the data folder as well, packed as the ledger holds it, before the first reference is marked.
 */
const FOLDER = 'references';
const NAME = /^[0-9a-f]{12}\.json$/;

const kept = z.object({
  realm: z.object({ baseUrl: z.string(), realmId: z.string() }),
  note: z.object({ at: z.number(), who: z.string(), file: z.string(), references: z.number() }),
  packed: z.base64(),
});
type Kept = z.infer<typeof kept>;

type Added = {
  readonly realm: Parameters<App['ledger']>[0];
  readonly note: Kept['note'];
  readonly references: Parameters<typeof planning.references.pack>[0];
};

export async function addReferences(
  app: App,
  { realm, note, references }: Added,
  onProgress: (done: number) => void,
) {
  const { baseUrl, realmId } = realm;
  const packed = planning.references.pack(references);
  await keep(app.config.dataFolder, {
    realm: { baseUrl, realmId },
    note,
    packed: packed.toString('base64'),
  });
  const done = await planning.references.carry(app.ledger(realm), { id: BATCH, note }, packed, onProgress);
  const what = `marked ${counted(done.marked, 'reference')} of ${note.file} as spent in realm ${realm.name}`;
  await recordIn(app.scripts, note.who, { what, why: null });
  return done;
}

/** After a restore; those that are marked already stay as they are. Answers how many the store had forgotten. */
export async function putReferencesBack(app: App): Promise<number> {
  const folder = join(app.config.dataFolder, FOLDER);
  let marked = 0;
  for (const name of (await readdir(folder).catch(() => [])).sort()) {
    if (!NAME.test(name)) continue;
    const { realm, note, packed } = kept.parse(JSON.parse(await readFile(join(folder, name), 'utf8')));
    const profile = configuredProfile(app.config, realm);
    if (profile === undefined) continue;
    const bytes = Buffer.from(packed, 'base64');
    marked += (await planning.references.carry(app.ledger(profile), { id: BATCH, note }, bytes, () => {}))
      .marked;
  }
  return marked;
}

const BATCH = batchId('paid-elsewhere');

async function keep(dataFolder: string, value: Kept): Promise<void> {
  const folder = join(dataFolder, FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${randomBytes(6).toString('hex')}.json`);
  const file = await open(`${path}.new`, 'wx', 0o600);
  try {
    await file.writeFile(JSON.stringify(value));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  await syncFolder(folder);
}
