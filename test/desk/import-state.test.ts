import { describe, expect, test } from 'vitest';
import type { PlanReply, UploadReply } from '../../src/desk/api/index.js';
import {
  AT_FIRST,
  type ImportEvent,
  type ImportState,
  imported,
  keptForNext,
  NOTHING_SAID,
  requestOf,
} from '../../src/desk/web/pages/import/import-state.js';

const FILE: UploadReply = { ...({} as UploadReply), upload: 'u1', name: 'june.csv', bytes: 10 };
const TABLE: UploadReply = { ...FILE, upload: 't1', name: 'members.csv' };
const PLAN: PlanReply = { ...({} as PlanReply), shown: 'first' };
const DRAFT = { ...NOTHING_SAID, realm: 'main', members: TABLE.upload, again: ' june ' };

const stateAfter = (...events: readonly ImportEvent[]): ImportState => events.reduce(imported, AT_FIRST);
const refusal = (code: string) => ({ code, message: 'no', next: '', details: [] });
const planning = (before: PlanReply | null) =>
  ({ type: 'planning', file: FILE, draft: DRAFT, before }) as const;
const refused = (code: string, before: PlanReply | null) =>
  ({ type: 'refused', file: FILE, draft: DRAFT, before, failure: refusal(code) }) as const;

test('a file passes from sending to its plan', () => {
  const sending = { type: 'sending', name: FILE.name, bytes: 10, sent: 4 } as const;
  expect(stateAfter(sending).stage).toEqual({ at: 'sending', name: FILE.name, bytes: 10, sent: 4 });
  expect(stateAfter(sending, planning(null)).stage).toEqual({ at: 'planning', file: FILE, plan: null });
  const done = stateAfter(sending, planning(null), { type: 'planned', file: FILE, plan: PLAN });
  expect(done.stage).toEqual({ at: 'planned', file: FILE, plan: PLAN });
  expect(done.options).toEqual({ realm: 'main', members: 't1', again: 'june' });
});

test('a new plan forgets the failure of the last one, and changes of switches do not change its request', () => {
  const failed = stateAfter(refused('ALM_PLAN_FAULTS', null));
  expect(failed.failure).toEqual(refusal('ALM_PLAN_FAULTS'));
  const planned = imported(failed, planning(PLAN));
  expect(planned.failure).toBeNull();
  const drafted = imported(planned, { type: 'drafted', draft: { ...DRAFT, again: 'july' } });
  expect(requestOf(drafted.draft)).not.toEqual(drafted.options);
});

describe('a refused plan', () => {
  const table = { type: 'table', table: TABLE, draft: NOTHING_SAID } as const;

  test('leaves the file where it is', () => {
    expect(stateAfter(planning(null), refused('ALM_PLAN_REALM', null)).stage).toEqual({
      at: 'uploaded',
      file: FILE,
      plan: null,
    });
  });

  test('leaves the plan before it on the page', () => {
    expect(stateAfter(planning(PLAN), refused('ALM_PLAN_REALM', PLAN)).stage).toEqual({
      at: 'planned',
      file: FILE,
      plan: PLAN,
    });
  });

  test('without its table of members shows no plan, and the table is to be chosen again', () => {
    const without = stateAfter(table, planning(PLAN), refused('ALM_DESK_TABLE_UNKNOWN', PLAN));
    expect(without).toMatchObject({ table: null, stage: { at: 'uploaded' } });
    expect(without.draft).toEqual({ ...DRAFT, members: '' });
  });

  test('without its file begins anew', () => {
    const gone = stateAfter(table, planning(PLAN), refused('ALM_DESK_UPLOAD_UNKNOWN', PLAN));
    expect(gone).toMatchObject({ table: null, stage: { at: 'choosing' } });
    expect(gone.failure?.code).toBe('ALM_DESK_UPLOAD_UNKNOWN');
  });
});

test('an upload that was stopped is no failure, and one that broke off is', () => {
  expect(stateAfter({ type: 'stopped' })).toEqual(AT_FIRST);
  const failure = refusal('ALM_DESK_UNREACHABLE');
  expect(stateAfter({ type: 'not-sent', failure })).toEqual({ ...AT_FIRST, failure });
});

test('cells that could not be mended leave the plan', () => {
  const failure = refusal('ALM_DESK_MEND');
  const stage = { at: 'planned', file: FILE, plan: PLAN };
  const mending = { type: 'mending', file: FILE, before: PLAN } as const;
  expect(stateAfter(mending).stage).toEqual({ ...stage, at: 'planning' });
  expect(stateAfter(mending, { type: 'not-mended', file: FILE, before: PLAN, failure })).toMatchObject({
    failure,
    stage,
  });
});

test('the next file keeps only the realm', () => {
  expect(keptForNext(DRAFT)).toEqual({ ...NOTHING_SAID, realm: 'main' });
});
