import type { PlanReply, PlanRequest, UploadReply } from '../../../api/index.js';

/** The switches as they are set on the page. The plan shown may have been made with others. */
export type Draft = Readonly<typeof NOTHING_SAID>;

const SWITCHES_OFF = {
  newRowsOnly: false,
  newAddress: false,
  newLedger: false,
  skipInvalid: false,
  forgetColumns: false,
};

export const NOTHING_SAID = {
  realm: '',
  /** Empty: the realm's own currency. */
  currency: '',
  map: [] as readonly string[],
  headerLine: '',
  /** The id of the uploaded table of members. */
  members: '',
  again: '',
  begin: '',
  finishBy: '',
  ...SWITCHES_OFF,
};

/** The request to plan that the switches make. */
export function requestOf({ map, headerLine, ...said }: Draft): PlanRequest {
  const trimmed = Object.entries(said).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.trim() : value,
  ]);
  return {
    ...(map.length === 0 ? {} : { map: [...map] }),
    ...(headerLine.trim() === '' ? {} : { headerLine: Number(headerLine) }),
    ...Object.fromEntries(trimmed.filter(([, value]) => value !== '' && value !== false)),
  };
}

/**
 * Keeps the realm for the next file and resets all other switches. They were set for one file and would hide warnings
 * about the next. The server keeps column names itself.
 */
export function keptForNext({ realm }: Draft): Draft {
  return { ...NOTHING_SAID, realm };
}

/** A refusal of the desk, as the page shows it. */
export type Refusal = {
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly details: readonly string[];
};

/** The stages of an import: choosing → sending → uploaded → planning → planned → the batch's page. */
type Stage =
  | { readonly at: 'choosing' }
  | { readonly at: 'sending'; readonly name: string; readonly bytes: number; readonly sent: number }
  | FileStage;

/** The stages in which the server holds a file. */
export type FileStage =
  | { readonly at: 'uploaded'; readonly file: UploadReply; readonly plan: null }
  | { readonly at: 'planning'; readonly file: UploadReply; readonly plan: PlanReply | null }
  | { readonly at: 'planned'; readonly file: UploadReply; readonly plan: PlanReply };

export type ImportState = {
  readonly stage: Stage;
  readonly draft: Draft;
  /** The request that made the plan on the page. */
  readonly options: PlanRequest;
  readonly failure: Refusal | null;
  /** The table that turns wallets or handles into members. */
  readonly table: UploadReply | null;
};

export const AT_FIRST: ImportState = {
  stage: { at: 'choosing' },
  draft: NOTHING_SAID,
  options: {},
  failure: null,
  table: null,
};

export type ImportEvent =
  | { readonly type: 'drafted'; readonly draft: Draft }
  | { readonly type: 'sending'; readonly name: string; readonly bytes: number; readonly sent: number }
  | { readonly type: 'stopped' }
  | { readonly type: 'not-sent'; readonly failure: Refusal | null }
  | { readonly type: 'uploaded'; readonly file: UploadReply; readonly draft: Draft }
  /** `before` is the plan of the same file, which stays on the page meanwhile. */
  | {
      readonly type: 'planning';
      readonly file: UploadReply;
      readonly draft: Draft;
      readonly before: PlanReply | null;
    }
  | { readonly type: 'mending'; readonly file: UploadReply; readonly before: PlanReply }
  | { readonly type: 'planned'; readonly file: UploadReply; readonly plan: PlanReply }
  | {
      readonly type: 'refused';
      readonly file: UploadReply;
      readonly draft: Draft;
      readonly before: PlanReply | null;
      readonly failure: Refusal;
    }
  | {
      readonly type: 'not-mended';
      readonly file: UploadReply;
      readonly before: PlanReply;
      readonly failure: Refusal;
    }
  | { readonly type: 'table'; readonly table: UploadReply | null; readonly draft: Draft }
  | { readonly type: 'given-up' };

/** Computes the next state of the page from an event. It makes no calls: use-import.ts does. */
export function imported(state: ImportState, event: ImportEvent): ImportState {
  switch (event.type) {
    case 'drafted':
      return { ...state, draft: event.draft };
    case 'sending': {
      const { name, bytes, sent } = event;
      return { ...state, stage: { at: 'sending', name, bytes, sent } };
    }
    case 'stopped':
      return { ...state, stage: { at: 'choosing' } };
    case 'not-sent':
      return { ...state, stage: { at: 'choosing' }, failure: event.failure };
    case 'uploaded':
      return { ...state, draft: event.draft, stage: { at: 'uploaded', file: event.file, plan: null } };
    case 'planning': {
      const { file, draft, before } = event;
      const stage = { at: 'planning', file, plan: before } as const;
      return { ...state, draft, options: requestOf(draft), failure: null, stage };
    }
    case 'mending':
      return { ...state, failure: null, stage: { at: 'planning', file: event.file, plan: event.before } };
    case 'planned':
      return { ...state, stage: { at: 'planned', file: event.file, plan: event.plan } };
    case 'refused':
      return refused(state, event);
    case 'not-mended': {
      const { file, before, failure } = event;
      return { ...state, failure, stage: { at: 'planned', file, plan: before } };
    }
    case 'table':
      return { ...state, table: event.table, draft: withTable(event.draft, event.table) };
    case 'given-up':
      return { ...state, table: null };
  }
}

export function withTable(draft: Draft, table: UploadReply | null): Draft {
  return { ...draft, members: table?.upload ?? '' };
}

/** True where the server dropped the table. The person chooses it again or leaves it out. */
export function isWithoutTable({ code }: Refusal): boolean {
  return code === 'ALM_DESK_TABLE_UNKNOWN';
}

/** True where the server dropped the file. */
export function isWithoutFile({ code }: Refusal): boolean {
  return code === 'ALM_DESK_UPLOAD_UNKNOWN';
}

/** The earlier plan stays on the page with its columns, so that the person can plan in another way. */
function refused(
  state: ImportState,
  { file, draft, before, failure }: Extract<ImportEvent, { type: 'refused' }>,
): ImportState {
  if (isWithoutFile(failure)) return { ...state, failure, table: null, stage: { at: 'choosing' } };
  const without = isWithoutTable(failure) ? { table: null, draft: withTable(draft, null) } : {};
  const stage: FileStage =
    before === null || isWithoutTable(failure)
      ? { at: 'uploaded', file, plan: null }
      : { at: 'planned', file, plan: before };
  return { ...state, ...without, failure, stage };
}
