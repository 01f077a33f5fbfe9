import { isOfRow } from '../../../../words/faults.js';
import { counted, grouped } from '../../../../words/spelling.js';
import type { FindingReply, PlanReply, UploadReply } from '../../../api/index.js';
import { Button } from '../../parts/fields.js';
import { Notice, Panel, Table } from '../../parts/panel.js';
import type { Draft } from './plan-options.js';

/** Every fault with line and column, as `almoner plan` lists them. */
export function FaultList({ file, plan }: { readonly file: UploadReply; readonly plan: PlanReply }) {
  return (
    <>
      {plan.faultCount > 0 && (
        <Panel
          title={`${counted(plan.faultCount, 'fault')}: nothing can be started`}
          tone="bad"
          flush
          aside={
            <a href={`/api/uploads/${encodeURIComponent(file.upload)}/faults`} download="faults.csv">
              All faults as CSV
            </a>
          }
        >
          <Findings findings={plan.faults} label="Faults" />
          {plan.faultCount > plan.faults.length && (
            <p class="panel-note soft n">
              The first {grouped(plan.faults.length)} are shown; the CSV has all of them.
            </p>
          )}
        </Panel>
      )}
      {plan.warnings.length > 0 && (
        <Panel title={counted(plan.warnings.length, 'warning')} tone="warn" flush>
          <Findings findings={plan.warnings} label="Warnings" />
        </Panel>
      )}
    </>
  );
}

type FindingsProps = { readonly findings: readonly FindingReply[]; readonly label: string };

function Findings({ findings, label }: FindingsProps) {
  return (
    <Table label={label} css="findings" heads={[['Line', 'n'], 'Column', 'What is wrong', 'Code']}>
      {findings.map(({ line, column, code, message }, at) => (
        <tr key={`${line} ${code} ${at}`}>
          <td class="n">{line === 0 ? 'file' : grouped(line)}</td>
          <td class="mono">{column ?? ''}</td>
          <td class="what">{inWordsOfThePage(message)}</td>
          <td class="mono soft small">{code}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Findings name the command line's switches. */
function inWordsOfThePage(message: string): string {
  return message
    .replaceAll('--new-rows-only', '“Only new rows”')
    .replaceAll('--again LABEL', 'a label under “Again on purpose”')
    .replaceAll('--new-address', '“The new address is meant”')
    .replaceAll('--in-order', '“Strictly in file order”, below');
}

type StoppedProps = {
  readonly plan: PlanReply;
  readonly busy: boolean;
  /** Plans the same file again with this said. */
  readonly onSay: (said: Partial<Draft>) => void;
};

/** What a person can do about a plan that stopped: decide what only they can know, or mend the file. */
export function Stopped({ plan, busy, onSay }: StoppedProps) {
  if (plan.faultCount === 0) return null;
  const codes = new Set(plan.faults.map(({ code }) => code));
  const decisions = DECISIONS.filter(({ code }) => codes.has(code));
  return (
    <>
      {decisions.map(({ code, what, go, said, button }) => (
        <Notice key={code} tone="warn">
          <p>
            <b>{what}</b> {go}
          </p>
          {button !== null && <Button name={button} disabled={busy} onPress={() => onSay(said)} />}
        </Notice>
      ))}
      {codes.size > decisions.length && (
        <Notice tone="bad">
          <b>Refused as a whole; nothing was enqueued.</b> Mend the file and choose it again
          {[...codes].every(isOfRow) ? ', or take only the good rows with the switch above.' : '.'}
        </Notice>
      )}
    </>
  );
}

const DECISIONS = [
  {
    code: 'ALM_PLAN_OTHER_ADDRESS',
    what: 'Nothing was enqueued: the realm was paid under another address.',
    go: 'If it is the same realm at the same place, configure that address again: its books know what was paid. Go on only if the realm has moved, or is another one with the same id.',
    said: { newAddress: true },
    button: 'The new address is meant',
  },
  {
    code: 'ALM_PLAN_LOOKS_PAID',
    what: 'Nothing was enqueued: rows of this file were paid before, or may still be.',
    go: 'Leave them out and pay the others; or, to pay all of them once more, give a label under “Again on purpose” and plan again.',
    said: { newRowsOnly: true, again: '' },
    button: 'Plan only the new rows',
  },
  {
    code: 'ALM_PLAN_MAYBE_FORGOTTEN',
    what: 'Nothing was enqueued: nobody here can tell whether this file was paid.',
    go: 'Look at some of its members in the realm itself. If it was not paid, give a label under “Again on purpose” and plan again.',
    said: {},
    button: null,
  },
] as const;
