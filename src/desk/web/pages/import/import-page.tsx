import { bytesWords, percent } from '../../../../words/spelling.js';
import type { PlanReply } from '../../../api/index.js';
import { useIsOperator } from '../../live/call.js';
import { useStore } from '../../live/store.js';
import { live } from '../../live/stream.js';
import { Button } from '../../parts/fields.js';
import { Failure, Notice } from '../../parts/panel.js';
import { Page } from '../../shell/page.js';
import { ChooseFile, OwnUploads } from './choose-file.js';
import { ColumnsPanel } from './columns-panel.js';
import { FaultList, Stopped } from './fault-list.js';
import { type Draft, type FileStage, type ImportState, requestOf } from './import-state.js';
import { MemberTable } from './member-table.js';
import { PlanOptions } from './plan-options.js';
import { PlanPreview } from './plan-preview.js';
import { StartPlan } from './start-plan.js';
import { configuredRealms, type ImportDesk, useImport } from './use-import.js';

/** The page that takes a file from upload to its batch. */
export function ImportPage() {
  const { state, desk } = useImport();
  const operator = useIsOperator();
  useStore(live);
  const { stage, failure } = state;
  const shown = stage.at === 'choosing' || stage.at === 'sending' ? null : stage;
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
          <ChooseFile onFile={(file) => desk.choose(file)} />
          <OwnUploads onFile={(file) => desk.take(file)} />
        </>
      )}
      {stage.at === 'sending' && <Sending {...stage} onStop={() => desk.again()} />}
      {shown !== null && <TakenFile shown={shown} state={state} desk={desk} />}
    </Page>
  );
}

type SendingProps = {
  readonly name: string;
  readonly bytes: number;
  readonly sent: number;
  readonly onStop: () => void;
};

function Sending({ name, bytes, sent, onStop }: SendingProps) {
  return (
    <Notice tone="plain">
      <p>
        Uploading <b>{name}</b>
      </p>
      <progress max={Math.max(1, bytes)} value={sent} aria-label={`Uploading ${name}`} />
      <p class="n">
        {bytesWords(sent)} of {bytesWords(bytes)} ({percent(sent, bytes)}){' '}
        <Button name="Stop" look="quiet" onPress={onStop} />
      </p>
    </Notice>
  );
}

type TakenFileProps = { readonly shown: FileStage; readonly state: ImportState; readonly desk: ImportDesk };

/** The uploaded file with its switches, and its plan where there is one. */
function TakenFile({ shown, state, desk }: TakenFileProps) {
  const { file, plan } = shown;
  const { draft, table } = state;
  return (
    <>
      <PlanOptions
        file={file}
        realms={configuredRealms()}
        draft={draft}
        stage={shown.at}
        asksAddress={asks(plan, 'ALM_PLAN_OTHER_ADDRESS')}
        asksLedger={asks(plan, 'ALM_LEDGER_ELSEWHERE')}
        onDraft={(said) => desk.draft(said)}
        onPlan={() => desk.plan(file, draft, plan)}
        onOther={() => desk.again()}
      >
        <MemberTable
          table={table}
          sha256={plan?.memberTable?.sha256 ?? null}
          busy={shown.at === 'planning'}
          onTable={(chosen) => desk.takeTable(chosen, file)}
        />
      </PlanOptions>
      {shown.at === 'planning' && plan === null && (
        <Notice tone="plain">
          <p>Reading and checking every row…</p>
          <progress aria-label="Planning" />
        </Notice>
      )}
      {plan !== null && <PlannedFile shown={shown} plan={plan} state={state} desk={desk} />}
    </>
  );
}

function PlannedFile({ shown, plan, state, desk }: TakenFileProps & { readonly plan: PlanReply }) {
  const { file } = shown;
  const { draft, options } = state;
  const busy = shown.at === 'planning';
  /** Plans the same file again with these settings. */
  const say = (said: Partial<Draft>) => desk.plan(file, { ...draft, ...said }, plan);
  return (
    <>
      {plan.columns !== null && (
        <ColumnsPanel
          columns={plan.columns}
          firstOrders={plan.firstOrders}
          map={draft.map}
          plannedMap={options.map ?? []}
          busy={busy}
          onDraft={(said) => desk.draft({ ...draft, ...said })}
          onSay={say}
        />
      )}
      <FaultList
        key={file.upload}
        file={file}
        plan={plan}
        busy={busy}
        onMend={(cells) => desk.mend(file, cells, plan)}
      />
      <Stopped plan={plan} busy={busy} onSay={say} />
      <PlanPreview plan={plan} />
      <StartPlan
        // A new plan clears the typed total.
        key={plan.shown}
        file={file}
        plan={plan}
        options={options}
        busy={busy}
        stale={JSON.stringify(requestOf(draft)) !== JSON.stringify(options)}
        onStarted={() => desk.started()}
      />
    </>
  );
}

/** True where the plan stopped for this reason, or continued because a person allowed it. */
function asks(plan: PlanReply | null, reason: string): boolean {
  return plan !== null && [...plan.faults, ...plan.warnings].some(({ code }) => code === reason);
}
