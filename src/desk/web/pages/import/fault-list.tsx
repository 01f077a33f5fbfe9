import type { FindingReply, PlanReply, UploadReply } from '../../../api-types.js';
import { Panel } from '../../parts/panel.js';
import { Scroll } from '../../parts/scroll.js';
import { counted, grouped } from '../../words/numbers.js';

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

function Findings({
  findings,
  label,
}: {
  readonly findings: readonly FindingReply[];
  readonly label: string;
}) {
  return (
    <Scroll label={label}>
      <table class="findings">
        <thead>
          <tr>
            <th scope="col" class="n">
              Line
            </th>
            <th scope="col">Column</th>
            <th scope="col">What is wrong</th>
            <th scope="col">Code</th>
          </tr>
        </thead>
        <tbody>
          {findings.map(({ line, column, code, message }, at) => (
            <tr key={`${line} ${code} ${at}`}>
              <td class="n">{line === 0 ? 'file' : grouped(line)}</td>
              <td class="mono">{column ?? ''}</td>
              <td class="what">{inWordsOfThePage(message)}</td>
              <td class="mono soft small">{code}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Findings name the command line's switches. */
function inWordsOfThePage(message: string): string {
  return message
    .replaceAll('--new-rows-only', '“Only new rows”')
    .replaceAll('--again LABEL', 'a label under “Again on purpose”');
}
