import { useEffect, useRef, useState } from 'preact/hooks';
import { bytesWords, counted, percent } from '../../../../words/spelling.js';
import type { PlanReply, PlanRequest, RealmCard, UploadReply } from '../../../api/index.js';
import { asFailure, type CallFailed, change, upload, useIsOperator } from '../../live/call.js';
import { useStore } from '../../live/store.js';
import { live } from '../../live/stream.js';
import { Button } from '../../parts/fields.js';
import { Failure, Notice } from '../../parts/panel.js';
import { announce, Page } from '../../shell/page.js';
import { ColumnsPanel } from './columns-panel.js';
import { FaultList, Stopped } from './fault-list.js';
import { MemberTable } from './member-table.js';
import { OwnUploads } from './own-uploads.js';
import { ChooseFile, type Draft, keptForNext, NOTHING_SAID, PlanOptions, requestOf } from './plan-options.js';
import { PlanPreview } from './plan-preview.js';
import { StartPlan } from './start-plan.js';

type Stage =
  | { readonly at: 'choosing' }
  | { readonly at: 'sending'; readonly name: string; readonly bytes: number; readonly sent: number }
  | { readonly at: 'uploaded'; readonly file: UploadReply; readonly plan: null }
  | { readonly at: 'planning'; readonly file: UploadReply; readonly plan: PlanReply | null }
  | { readonly at: 'planned'; readonly file: UploadReply; readonly plan: PlanReply };

/**
 * choosing → sending → uploaded → planning → planned → the batch's page. The file is planned by the same code
 * as `almoner plan`, at once where there is only one realm to mean; nothing is enqueued before the person
 * typed the total. A refused plan leaves the file where it is, to be planned again in another way.
 */
export function ImportPage() {
  const [stage, setStage] = useState<Stage>({ at: 'choosing' });
  const [draft, setDraft] = useState(NOTHING_SAID);
  const [options, setOptions] = useState<PlanRequest>({});
  const [failure, setFailure] = useState<CallFailed | null>(null);
  const sending = useRef<AbortController | null>(null);
  const [table, setTable] = useState<UploadReply | null>(null);
  /** What lies on the server for this page: the file, and the table of members. */
  const held = useRef<{ readonly file?: string; readonly table?: string }>({});
  const operator = useIsOperator();
  useStore(live);
  const realms = configuredRealms();

  const giveUp = async () => {
    sending.current?.abort();
    const { file, table } = held.current;
    held.current = {};
    setTable(null);
    await throwAway(file);
    await throwAway(table);
  };
  useEffect(() => () => void giveUp(), []);

  const plan = async (file: UploadReply, said: Draft, before: PlanReply | null) => {
    const wanted = requestOf(said);
    setDraft(said);
    setOptions(wanted);
    setFailure(null);
    setStage({ at: 'planning', file, plan: before });
    // Another file may be on the page by then.
    const isHere = () => held.current.file === file.upload;
    try {
      const planned = await change<PlanReply>(`/api/uploads/${encodeURIComponent(file.upload)}/plan`, wanted);
      if (!isHere()) return;
      setStage({ at: 'planned', file, plan: planned });
      announce(
        planned.faultCount > 0
          ? `${counted(planned.faultCount, 'fault')} found`
          : `Plan ready: ${counted(planned.payable.orders, 'order')}`,
      );
    } catch (error) {
      if (!isHere()) return;
      const refused = asFailure(error);
      setFailure(refused);
      // Nothing goes on without a table that was meant: it has to be chosen again, or left out by a person.
      const isWithout = refused.code === 'ALM_DESK_TABLE_UNKNOWN';
      if (isWithout) takeTable(null, said);
      const isGone = refused.code === 'ALM_DESK_UPLOAD_UNKNOWN';
      if (isGone) void giveUp();
      // What was planned before stays, with the columns by which it can be planned in another way.
      if (isGone) setStage({ at: 'choosing' });
      else if (before === null || isWithout) setStage({ at: 'uploaded', file, plan: null });
      else setStage({ at: 'planned', file, plan: before });
    }
  };

  const takeTable = (chosen: UploadReply | null, said: Draft): Draft => {
    void throwAway(held.current.table);
    const { file } = held.current;
    held.current = { ...(file && { file }), ...(chosen && { table: chosen.upload }) };
    setTable(chosen);
    const next = { ...said, members: chosen?.upload ?? '' };
    setDraft(next);
    return next;
  };

  const mend = async (file: UploadReply, cells: readonly unknown[], before: PlanReply) => {
    setFailure(null);
    setStage({ at: 'planning', file, plan: before });
    try {
      const path = `/api/uploads/${encodeURIComponent(file.upload)}/mend`;
      const mended = await change<UploadReply>(path, { cells });
      if (held.current.file !== file.upload) {
        void throwAway(mended.upload);
        return;
      }
      held.current = { ...held.current, file: mended.upload };
      void throwAway(file.upload);
      await plan(mended, draft, before);
    } catch (error) {
      if (held.current.file !== file.upload) return;
      setFailure(asFailure(error));
      setStage({ at: 'planned', file, plan: before });
    }
  };

  const take = async (file: UploadReply) => {
    held.current = { file: file.upload };
    const kept = keptForNext(draft);
    setDraft(kept);
    if (kept.realm === '' && configuredRealms().length !== 1) setStage({ at: 'uploaded', file, plan: null });
    else await plan(file, kept, null);
  };

  const choose = async (file: File) => {
    void giveUp();
    setFailure(null);
    const stop = new AbortController();
    sending.current = stop;
    setStage({ at: 'sending', name: file.name, bytes: file.size, sent: 0 });
    try {
      const reply = await upload(
        file,
        (sent) => setStage({ at: 'sending', name: file.name, bytes: file.size, sent }),
        stop.signal,
      );
      await take(reply);
    } catch (error) {
      setStage({ at: 'choosing' });
      if (!stop.signal.aborted) setFailure(asFailure(error));
    }
  };

  const again = async () => {
    // What lies there is listed next, and this one must not be among it.
    await giveUp();
    setFailure(null);
    setStage({ at: 'choosing' });
  };
  const shown = stage.at === 'choosing' || stage.at === 'sending' ? null : stage;
  // A table arrives later than it was chosen: what was typed meanwhile counts, and the file that is here by then.
  const latest = useRef({ file: shown?.file, plan: shown?.plan ?? null, draft });
  latest.current = { file: shown?.file, plan: shown?.plan ?? null, draft };
  return (
    <Page
      title="Import"
      rehearsal={shown?.plan?.rehearsal ?? false}
      lead="A CSV becomes a batch for the workers. Nothing is sent before you confirm the total."
    >
      {!operator && (
        <Notice tone="warn">
          Your role is viewer: you may look at everything, and an operator may import. Ask for a token with
          the operator role.
        </Notice>
      )}
      <Failure failure={failure} />
      {operator && stage.at === 'choosing' && (
        <>
          <ChooseFile onFile={choose} />
          <OwnUploads onFile={take} />
        </>
      )}
      {stage.at === 'sending' && (
        <Notice tone="plain">
          <p>
            Uploading <b>{stage.name}</b>
          </p>
          <progress
            max={Math.max(1, stage.bytes)}
            value={stage.sent}
            aria-label={`Uploading ${stage.name}`}
          />
          <p class="n">
            {bytesWords(stage.sent)} of {bytesWords(stage.bytes)} ({percent(stage.sent, stage.bytes)}){' '}
            <Button name="Stop" look="quiet" onPress={again} />
          </p>
        </Notice>
      )}
      {shown !== null && (
        <>
          <PlanOptions
            file={shown.file}
            realms={realms}
            draft={draft}
            stage={shown.at}
            asksAddress={asks(shown.plan, 'ALM_PLAN_OTHER_ADDRESS')}
            asksLedger={asks(shown.plan, 'ALM_LEDGER_ELSEWHERE')}
            onDraft={setDraft}
            onPlan={() => plan(shown.file, draft, shown.plan)}
            onOther={again}
          >
            <MemberTable
              table={table}
              sha256={shown.plan?.memberTable?.sha256 ?? null}
              busy={shown.at === 'planning'}
              onTable={(chosen) => {
                const { file, plan: before, draft: said } = latest.current;
                if (file?.upload === shown.file.upload) void plan(file, takeTable(chosen, said), before);
                else void throwAway(chosen?.upload);
              }}
            />
          </PlanOptions>
          {shown.at === 'planning' && shown.plan === null && (
            <Notice tone="plain">
              <p>Reading and checking every row…</p>
              <progress aria-label="Planning" />
            </Notice>
          )}
          {shown.plan !== null && (
            <>
              {shown.plan.columns !== null && (
                <ColumnsPanel
                  columns={shown.plan.columns}
                  firstOrders={shown.plan.firstOrders}
                  map={draft.map}
                  plannedMap={options.map ?? []}
                  busy={shown.at === 'planning'}
                  onDraft={(said) => setDraft({ ...draft, ...said })}
                  onSay={(said) => plan(shown.file, { ...draft, ...said }, shown.plan)}
                />
              )}
              <FaultList
                key={shown.file.upload}
                file={shown.file}
                plan={shown.plan}
                busy={shown.at === 'planning'}
                onMend={(cells) => shown.plan !== null && mend(shown.file, cells, shown.plan)}
              />
              <Stopped
                plan={shown.plan}
                busy={stage.at === 'planning'}
                onSay={(said) => plan(shown.file, { ...draft, ...said }, shown.plan)}
              />
              <PlanPreview plan={shown.plan} />
              <StartPlan
                // A total is typed for one plan.
                key={shown.plan.shown}
                file={shown.file}
                plan={shown.plan}
                options={options}
                busy={stage.at === 'planning'}
                stale={JSON.stringify(requestOf(draft)) !== JSON.stringify(options)}
                onStarted={() => {
                  held.current = {};
                }}
              />
            </>
          )}
        </>
      )}
    </Page>
  );
}

/** The server drops uploads by itself after a while; this is only tidier. */
async function throwAway(upload: string | undefined): Promise<void> {
  if (upload === undefined) return;
  await change(`/api/uploads/${encodeURIComponent(upload)}`, {}, 'DELETE').catch(() => {});
}

/** Whether the plan stopped for this reason, or goes on because a person said so. */
function asks(plan: PlanReply | null, reason: string): boolean {
  return plan !== null && [...plan.faults, ...plan.warnings].some(({ code }) => code === reason);
}

/** The realms that a file can be for; none until the first picture has come. */
function configuredRealms(): readonly RealmCard[] {
  return (live.get().overview?.realms ?? []).filter(({ configured }) => configured);
}
