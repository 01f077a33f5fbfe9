import { useState } from 'preact/hooks';
import { isOfRow } from '../../../../words/faults.js';
import { counted, grouped } from '../../../../words/spelling.js';
import type { FaultReply, PlanReply, UploadReply } from '../../../api/index.js';
import { Button } from '../../parts/fields.js';
import { Notice, Panel, Table } from '../../parts/panel.js';
import type { Draft } from './import-state.js';
import { CellField, placeOfFault, TakeCells, type Typed } from './mend-cells.js';

type FaultListProps = {
  readonly file: UploadReply;
  readonly plan: PlanReply;
  readonly busy: boolean;
  readonly onMend: Parameters<typeof TakeCells>[0]['onMend'];
};

/** Every fault with line and column, as `almoner plan` lists them. */
export function FaultList({ file, plan, busy, onMend }: FaultListProps) {
  const [typed, setTyped] = useState<Typed>(new Map());
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
          <Findings
            findings={plan.faults}
            label="Faults"
            typed={typed}
            {...(plan.faults.some(({ code }) => isOfRow(code)) ? { onTyped: setTyped } : {})}
          />
          <TakeCells faults={plan.faults} typed={typed} busy={busy} onMend={onMend} />
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

type FindingsProps = {
  readonly findings: readonly FaultReply[];
  readonly label: string;
  readonly typed?: Typed;
  /** Present where the page lets the person mend cells. */
  readonly onTyped?: (typed: Typed) => void;
};

function Findings({ findings, label, typed = new Map(), onTyped }: FindingsProps) {
  const heads = [['Line', 'n'] as const, 'Column', 'What is wrong', ...(onTyped ? ['Cell'] : []), 'Code'];
  const places = findings.map(placeOfFault);
  return (
    <Table label={label} css="findings" heads={heads}>
      {findings.map((finding, at) => {
        const { line, column, code, message } = finding;
        const first = places.indexOf(places[at] ?? '') === at;
        return (
          <tr key={`${line} ${code} ${at}`}>
            <td class="n">{line === 0 ? 'file' : grouped(line)}</td>
            <td class="mono">{column ?? ''}</td>
            <td class="what">{inWordsOfThePage(message)}</td>
            {onTyped && (
              <td class="cell">
                <CellField fault={finding} first={first} typed={typed} onTyped={onTyped} />
              </td>
            )}
            <td class="mono soft small">{code}</td>
          </tr>
        );
      })}
    </Table>
  );
}

/** Findings name switches of the command line. The page shows its own labels instead. */
function inWordsOfThePage(message: string): string {
  return message
    .replaceAll('--new-rows-only', '“Only new rows”')
    .replaceAll('--again LABEL', 'a label under “Again on purpose”')
    .replaceAll('--new-address', '“The new address is meant”')
    .replaceAll('--new-ledger', '“The new ledger is meant”')
    .replaceAll('--in-order', '“Strictly in file order”, below')
    .replaceAll(/--header-line ([0-9]+)/g, '“Take line $1 as the header”')
    .replaceAll('--members FILE', '“Table of members”')
    .replaceAll(MAP, (_, ...[quoted, column, bare, word]) => {
      const [meaning, name] = [quoted ?? bare, column ?? word];
      return `${name === 'COLUMN' ? '' : `“${name}” as `}“${meaning}” under “Columns”`;
    });
}

/** Matches `--map tokens=Punkte` and `--map 'tokens=My Points'`. A dot behind a bare name ends the sentence. */
const MAP = /--map (?:'(\w+)=((?:[^']|'\\'')*)'|(\w+)=([\p{L}\p{N}_.-]*[\p{L}\p{N}_-]))/gu;

type StoppedProps = {
  readonly plan: PlanReply;
  readonly busy: boolean;
  /** Plans the same file again with these settings. */
  readonly onSay: (said: Partial<Draft>) => void;
};

/** The steps after a refused plan: settings that only a person can decide, or mending the file. */
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
          <b>Refused as a whole; nothing was enqueued.</b> {mendWords(plan)}
          {[...codes].every(isOfRow) ? ', or take only the good rows with the switch above.' : '.'}
        </Notice>
      )}
    </>
  );
}

function mendWords({ faults }: PlanReply): string {
  if (faults.some(({ code }) => /^ALM_FILE_(?:COLUMN|HEADER|MAP)/.test(code)))
    return 'Say above which line is the header and what its columns are, or mend the file and choose it again';
  const isMendable = faults.some(({ cell }) => cell !== undefined);
  return `${isMendable ? 'Mend the cells above, or mend' : 'Mend'} the file and choose it again`;
}

const DECISIONS = [
  {
    code: 'ALM_PLAN_OTHER_ADDRESS',
    what: 'Nothing was enqueued: the realm was paid under another address.',
    go: 'If it is the same realm at the same place, configure that address again: its ledger knows what was paid. Go on only if the realm has moved, or is another one with the same id.',
    said: { newAddress: true },
    button: 'The new address is meant',
  },
  {
    code: 'ALM_LEDGER_ELSEWHERE',
    what: 'Nothing was enqueued: this machine has paid the realm from another ledger.',
    go: 'Start the desk with the data folder and the store of that ledger: it knows what was paid. Go on only if a new ledger is meant.',
    said: { newLedger: true },
    button: 'The new ledger is meant',
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
    what: 'Nothing was enqueued: almoner cannot tell whether this file was paid.',
    go: 'Look at some of its members in the realm itself. If it was not paid, give a label under “Again on purpose” and plan again.',
    said: {},
    button: null,
  },
] as const;
