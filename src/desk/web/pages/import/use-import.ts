import { useEffect, useReducer, useRef } from 'preact/hooks';
import { counted } from '../../../../words/spelling.js';
import type { PlanReply, RealmCard, UploadReply } from '../../../api/index.js';
import { asFailure, change, upload } from '../../live/call.js';
import { live } from '../../live/stream.js';
import { announce } from '../../shell/page.js';
import {
  AT_FIRST,
  type Draft,
  type ImportEvent,
  type ImportState,
  imported,
  isWithoutFile,
  isWithoutTable,
  keptForNext,
  requestOf,
  withTable,
} from './import-state.js';

/**
 * The import page's calls to the desk. The server plans with the same code as `almoner plan`, at once where there is
 * only one realm. It enqueues nothing before the person typed the total. A refused plan leaves the file on the
 * server, to be planned in another way.
 */
export function useImport(): { readonly state: ImportState; readonly desk: ImportDesk } {
  const [state, on] = useReducer<ImportState, ImportEvent>(imported, AT_FIRST);
  const made = useRef<ImportDesk | null>(null);
  made.current ??= new ImportDesk(on);
  const desk = made.current;
  desk.state = state;
  useEffect(() => () => void desk.giveUp(), [desk]);
  return { state, desk };
}

/** The page's calls to the server. It outlives a rendering, because replies arrive later. */
export class ImportDesk {
  /** The state that the page shows now. */
  state = AT_FIRST;
  private sending: AbortController | null = null;
  /** The uploads that the server holds for this page: the file and the table of members. */
  private held: { readonly file?: string; readonly table?: string } = {};

  constructor(private readonly on: (event: ImportEvent) => void) {}

  draft(draft: Draft): void {
    this.on({ type: 'drafted', draft });
  }

  async choose(file: File): Promise<void> {
    void this.giveUp();
    const { name, size: bytes } = file;
    const stop = new AbortController();
    this.sending = stop;
    this.on({ type: 'not-sent', failure: null });
    this.on({ type: 'sending', name, bytes, sent: 0 });
    try {
      await this.take(
        await upload(file, (sent) => this.on({ type: 'sending', name, bytes, sent }), stop.signal),
      );
    } catch (error) {
      this.on(stop.signal.aborted ? { type: 'stopped' } : { type: 'not-sent', failure: asFailure(error) });
    }
  }

  async take(file: UploadReply): Promise<void> {
    this.held = { file: file.upload };
    const draft = keptForNext(this.state.draft);
    if (draft.realm === '' && configuredRealms().length !== 1) this.on({ type: 'uploaded', file, draft });
    else await this.plan(file, draft, null);
  }

  async plan(file: UploadReply, draft: Draft, before: PlanReply | null): Promise<void> {
    this.on({ type: 'planning', file, draft, before });
    try {
      const path = `/api/uploads/${encodeURIComponent(file.upload)}/plan`;
      const plan = await change<PlanReply>(path, requestOf(draft));
      if (!this.holds(file)) return;
      this.on({ type: 'planned', file, plan });
      announce(
        plan.faultCount > 0
          ? `${counted(plan.faultCount, 'fault')} found`
          : `Plan ready: ${counted(plan.payable.orders, 'order')}`,
      );
    } catch (error) {
      if (!this.holds(file)) return;
      const failure = asFailure(error);
      if (isWithoutTable(failure)) this.holdTable(null);
      if (isWithoutFile(failure)) void this.giveUp();
      this.on({ type: 'refused', file, draft, before, failure });
    }
  }

  async mend(file: UploadReply, cells: readonly unknown[], before: PlanReply): Promise<void> {
    const { draft } = this.state;
    this.on({ type: 'mending', file, before });
    try {
      const path = `/api/uploads/${encodeURIComponent(file.upload)}/mend`;
      const mended = await change<UploadReply>(path, { cells });
      if (!this.holds(file)) {
        void throwAway(mended.upload);
        return;
      }
      this.held = { ...this.held, file: mended.upload };
      void throwAway(file.upload);
      await this.plan(mended, draft, before);
    } catch (error) {
      if (this.holds(file)) this.on({ type: 'not-mended', file, before, failure: asFailure(error) });
    }
  }

  /** The upload of a table ends later than its choice. Use the switches and the file that are on the page by then. */
  takeTable(chosen: UploadReply | null, of: UploadReply): void {
    const { stage, draft } = this.state;
    if (stage.at === 'choosing' || stage.at === 'sending' || stage.file.upload !== of.upload) {
      void throwAway(chosen?.upload);
      return;
    }
    this.holdTable(chosen);
    this.on({ type: 'table', table: chosen, draft });
    void this.plan(stage.file, withTable(draft, chosen), stage.plan);
  }

  /** Gives this file up and returns to choosing. */
  async again(): Promise<void> {
    // Removed first, so that the list of uploads shown next does not contain it.
    await this.giveUp();
    this.on({ type: 'not-sent', failure: null });
  }

  async giveUp(): Promise<void> {
    this.sending?.abort();
    const { file, table } = this.held;
    this.held = {};
    this.on({ type: 'given-up' });
    await throwAway(file);
    await throwAway(table);
  }

  /** The file belongs to a batch now, so that the page must not remove it. */
  started(): void {
    this.held = {};
  }

  /** True where the page still shows this file. A reply may arrive after another file was chosen. */
  private holds(file: UploadReply): boolean {
    return this.held.file === file.upload;
  }

  private holdTable(chosen: UploadReply | null): void {
    void throwAway(this.held.table);
    const { file } = this.held;
    this.held = { ...(file && { file }), ...(chosen && { table: chosen.upload }) };
  }
}

/** Removes an upload early. The server drops it by itself after a while. */
async function throwAway(upload: string | undefined): Promise<void> {
  if (upload === undefined) return;
  await change(`/api/uploads/${encodeURIComponent(upload)}`, {}, 'DELETE').catch(() => {});
}

/** The realms that a file can be paid to; none before the first snapshot. */
export function configuredRealms(): readonly RealmCard[] {
  return (live.get().overview?.realms ?? []).filter(({ configured }) => configured);
}
