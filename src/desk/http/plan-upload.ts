import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { keptPairText } from '../../csv/kept-columns.js';
import { cellsAt, type MendedCell, type MendSheet, mendFile } from '../../csv/mend.js';
import { openSource, type Source } from '../../csv/open.js';
import type { Finding } from '../../csv/row.js';
import { type PlanChoices, type Planned, planFile, planView } from '../../operations/pay/plan-file.js';
import type { PlannedFile } from '../../operations/pay/plan-input.js';
import { unseenPairs } from '../../operations/pay/plan-unseen.js';
import { importBatch, standing } from '../../operations/pay/store-batch.js';
import { needPreparer } from '../../operations/people/who.js';
import { openForJudging } from '../../operations/services/recovery.js';
import { refuseUnsafeStore } from '../../operations/services/store-safety.js';
import type { Plan } from '../../planning/plan.js';
import type { App } from '../../runtime/app.js';
import { pickProfile } from '../../runtime/config/config.js';
import type { FaultReply } from '../api/imports.js';
import { CELL_CHARACTERS_MAX, MENDED_MAX } from '../api/values.js';
import type { PlannedUpload, Upload, Uploads } from './uploads.js';

/** The options of a plan of an uploaded file. */
type PlanOptions = Pick<PlannedFile, 'map' | 'headerLine' | 'members' | 'forgetColumns'> &
  Omit<PlanChoices, 'expectRows' | 'expectTokens'>;

/** Plans an uploaded file. The result can be shown, and enqueued after the confirmation. */
export async function planUpload(
  app: App,
  { path, name }: Upload,
  realmName: string | undefined,
  options: PlanOptions,
): Promise<PlannedUpload> {
  const profile = pickProfile(app.config, realmName);
  // Refuses early, before the person types the total, where they may not prepare a payment.
  await needPreparer(app, profile);
  await openForJudging(app, profile);
  const realm = await app.realm(profile);
  const request = { file: path, ...options, expectRows: null, expectTokens: null };
  const { plan, preview } = await planFile(realm, request, Date.now(), app);
  const planned = { plan: { ...plan, source: name }, preview };
  const document = await planView(planned, profile);
  const sheet = sheetOf(plan);
  const faults = await withCells(path, sheet, document.faults).catch((error: unknown) => {
    plan.findings.close();
    throw error;
  });
  const verdict = verdictOf(planned);
  return {
    document: { ...document, faults, shown: verdict },
    sheet,
    verdict,
    unseen: unseenPairs(plan.found?.kept).map(keptPairText),
    writeFaults: (file) => plan.findings.writeFaults(file),
    async enqueue(inOrder) {
      await refuseUnsafeStore(app);
      return importBatch(app, realm, planned, { batchId: null, inOrder });
    },
    close: () => plan.findings.close(),
  };
}

/** The hash of what a plan would do. A start with another hash is refused. */
function verdictOf({ plan, preview }: Planned): string {
  const { blocks, currency, repeats, movedFrom, existing } = plan;
  const addresses = movedFrom.map(({ baseUrl }) => baseUrl);
  // A set time of 18:00 means another day tomorrow, so that the start belongs to the hash.
  const hash = createHash('sha256').update(JSON.stringify([currency, addresses, preview.start]));
  hash.update(standing(existing?.view));
  for (const block of blocks) hash.update(block);
  for (const { batch, rows } of repeats.batches) hash.update(`${batch} ${rows.join()}`);
  return hash.digest('hex');
}

function sheetOf({ sheet, found }: Plan): MendSheet | null {
  if (sheet === null || found === null) return null;
  const { headerLine, columns } = found;
  return { delimiter: sheet.delimiter, headerLine, names: columns.map(({ name }) => name) };
}

/** Adds the present cell text to the first faults of single cells. */
async function withCells(
  path: string,
  sheet: MendSheet | null,
  faults: readonly Finding[],
): Promise<FaultReply[]> {
  if (sheet === null) return [...faults];
  const places = faults.flatMap(({ line, column }) =>
    line > sheet.headerLine && column !== null && sheet.names.includes(column) ? [{ line, column }] : [],
  );
  const first = places.slice(0, MENDED_MAX);
  if (first.length === 0) return [...faults];
  const cells = await reading(path, (source) => cellsAt(source, sheet, first));
  const known = new Map(first.map(({ line, column }, at) => [`${line} ${column}`, cells[at] ?? null]));
  return faults.map((fault) => {
    const cell = known.get(`${fault.line} ${fault.column}`) ?? null;
    // A one-line field would change a cell with line breaks.
    return cell === null || cell.length > CELL_CHARACTERS_MAX || /[\r\n]/.test(cell)
      ? fault
      : { ...fault, cell };
  });
}

/** Makes a new upload of the same person with the mended cells. Its rows are read as they were last shown. */
export function mendUpload(uploads: Uploads, upload: Upload, cells: readonly MendedCell[]): Promise<Upload> {
  const sheet = uploads.sheetOf(upload);
  const name = upload.name.replace(/(?:-mended)?(\.[^.]*)?$/, '-mended$1');
  return upload.planning.through(() =>
    reading(upload.path, async (source) => {
      const mended = await mendFile(source, sheet, cells);
      return uploads.receive(Readable.from(mended), name, null, upload.who);
    }),
  );
}

async function reading<T>(path: string, read: (source: Source) => Promise<T>): Promise<T> {
  const source = await openSource(path);
  try {
    return await read(source);
  } finally {
    await source.close();
  }
}
