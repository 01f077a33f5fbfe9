import { useEffect, useState } from 'preact/hooks';
import { OPS } from '../../../../core/order.js';
import { bytesWords, counted, grouped } from '../../../../words/spelling.js';
import type { BatchReply, FilesReply } from '../../../api/index.js';
import { change, useIsOperator } from '../../live/call.js';
import { useChange, useResource } from '../../live/resource.js';
import { Button } from '../../parts/fields.js';
import { Time } from '../../parts/marks.js';
import { Empty, type Fact, Facts, Failure, Loading, Panel } from '../../parts/panel.js';
import { announce } from '../../shell/page.js';

const MEANINGS: Readonly<Record<string, string>> = {
  'results.csv': 'one line per row of the input, with what became of it',
  'paid.csv': 'the rows that were paid',
  'failed.csv': 'refused, exhausted, invalid: can be mended and run again',
  'doubt.csv': 'rows a person must decide',
  'unprocessed.csv': 'planned or cancelled',
  'duplicate.csv': 'rows whose reference was spent before',
  'audit.csv': 'who, when, what, why',
  'summary.json': 'counts, sums and checks for programs',
  'report.html': 'the same for a person, in one file',
};

/** The report files of a batch. An operator can have them written again at any time. */
export function BatchFiles({ reply }: { readonly reply: BatchReply }) {
  const { batch, state, finishedAt } = reply.summary;
  const path = `/api/batches/${encodeURIComponent(batch)}`;
  const { value, failure, reload } = useResource<FilesReply>(`${path}/files`);
  const [written, setWritten] = useState<FilesReply | null>(null);
  const writing = useChange();
  const operator = useIsOperator();
  // The process that works a batch writes its files at the end, so that a new state reloads the list.
  useEffect(reload, [state]);
  const isAwaited = value?.files.length === 0 && isRecent(finishedAt);
  useEffect(() => {
    const timer = isAwaited ? window.setTimeout(reload, ASK_AGAIN_MS) : 0;
    return () => window.clearTimeout(timer);
  }, [value, isAwaited]);
  useEffect(() => setWritten(null), [value]);
  const write = () =>
    writing.attempt(async () => {
      setWritten(await change<FilesReply>(`${path}/report`));
      announce('The report was written again.');
    });
  const files = (written ?? value)?.files ?? [];
  return (
    <Panel
      title="Report files"
      flush
      aside={
        operator &&
        reply.can.includes('report') && (
          <Button
            name={writing.busy ? 'Writing…' : files.length === 0 ? 'Write the report' : 'Write again'}
            look="quiet"
            disabled={writing.busy}
            onPress={write}
          />
        )
      }
    >
      <Failure failure={writing.failure ?? failure} />
      {value === null && failure === null && <Loading rows={5} />}
      {value !== null && files.length === 0 && (
        <Empty title="No report was written yet.">
          A worker writes it when the batch ends; it can be written at any time, also half-way.
        </Empty>
      )}
      <ul class="files">
        {files.map((file) => (
          <li key={file.name}>
            <a href={`${path}/files/${encodeURIComponent(file.name)}`} download={file.name}>
              {file.name}
            </a>
            <span class="soft small">{MEANINGS[file.name] ?? ''}</span>
            <span class="soft small n">
              {bytesWords(file.bytes)}, <Time at={file.writtenAt} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const ASK_AGAIN_MS = 2_000;
const AWAITED_MS = 60_000;

function isRecent(at: string | null): boolean {
  return at !== null && Date.now() - Date.parse(at) < AWAITED_MS;
}

/** The manifest never changes after the batch was sealed. Only the gate and the worker's state do. */
export function ManifestPanel({ reply }: { readonly reply: BatchReply }) {
  const { summary, manifest, gate } = reply;
  return (
    <Panel title="Manifest">
      <Facts
        facts={[
          ['Realm', `${summary.realm} (${manifest.realmId})`],
          ['At', <span class="mono wrap">{manifest.baseUrl}</span>],
          ['Rows', grouped(summary.rows)],
          ...opFacts(manifest),
          ['Members', grouped(manifest.members)],
          ['Duplicates', grouped(manifest.duplicates)],
          ['Invalid', grouped(manifest.invalid)],
          ['Certainty', manifest.certainty],
          ['Currency', manifest.currency ?? 'the default one'],
          ['Worked by', summary.worker === 'run' ? 'a run of its own' : 'the workers'],
          manifest.inOrder && ['Order', 'strictly in file order'],
          manifest.again !== null && ['Again', manifest.again],
          ['Made', <Time at={summary.createdAt} />],
          gate?.begins != null && ['Begins', gate.begins],
          gate?.approved != null && [
            'Approved',
            <>
              by {gate.approved.who}, <Time at={gate.approved.at} />; counts until{' '}
              <Time at={gate.approved.ends} />
            </>,
          ],
          ['Started', <Time at={summary.startedAt} />],
          ['Ended', <Time at={summary.finishedAt} />],
          ...sealFacts(manifest),
        ]}
      />
    </Panel>
  );
}

/** The hashes of the sealed content. */
export function sealFacts({ sha256, fileSha256, table }: BatchReply['manifest']): (Fact | false)[] {
  const hash = (text: string) => <span class="mono small wrap">{text}</span>;
  return [
    ['SHA-256', hash(sha256)],
    fileSha256 !== null && ['Of the file', hash(fileSha256)],
    table !== null && [
      'Members by',
      <>
        {table.name} {hash(table.sha256)}
      </>,
    ],
  ];
}

/** Orders and tokens of each op that the batch has. */
export function opFacts({ orders, tokens }: Pick<BatchReply['manifest'], 'orders' | 'tokens'>) {
  return OPS.filter((op) => orders[op] > 0).map((op) => {
    const name = op.charAt(0).toUpperCase() + op.slice(1);
    return [name, `${counted(orders[op], 'order')}, ${counted(BigInt(tokens[op]), 'token')}`] as const;
  });
}
