import { useEffect, useState } from 'preact/hooks';
import { bytesWords, counted, grouped } from '../../../../words/spelling.js';
import type { BatchReply, FilesReply } from '../../../api/index.js';
import { asFailure, type CallFailed, change } from '../../live/call.js';
import { useResource } from '../../live/resource.js';
import { mayChange, session } from '../../live/session.js';
import { useStore } from '../../live/store.js';
import { Empty, Failure, Loading } from '../../parts/notice.js';
import { Facts, Panel } from '../../parts/panel.js';
import { Time } from '../../parts/time.js';
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

export function BatchFiles({ reply }: { readonly reply: BatchReply }) {
  const { batch, state } = reply.summary;
  const path = `/api/batches/${encodeURIComponent(batch)}`;
  const { value, failure, reload } = useResource<FilesReply>(`${path}/files`);
  const [written, setWritten] = useState<FilesReply | null>(null);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<CallFailed | null>(null);
  const who = useStore(session);
  // A command that works a batch writes its files when it ends.
  useEffect(reload, [state]);
  useEffect(() => setWritten(null), [value]);
  const write = async () => {
    setBusy(true);
    setRefused(null);
    try {
      setWritten(await change<FilesReply>(`${path}/report`));
      announce('The report was written again.');
    } catch (error) {
      setRefused(asFailure(error));
    }
    setBusy(false);
  };
  const files = (written ?? value)?.files ?? [];
  return (
    <Panel
      title="Report files"
      flush
      aside={
        mayChange(who) &&
        reply.can.includes('report') && (
          <button type="button" class="quiet" disabled={busy} onClick={write}>
            {busy ? 'Writing…' : files.length === 0 ? 'Write the report' : 'Write again'}
          </button>
        )
      }
    >
      {(refused ?? failure) !== null && <Failure failure={refused ?? failure ?? asFailure('')} />}
      {value === null && failure === null && <Loading rows={5} />}
      {value !== null && files.length === 0 && (
        <Empty title="No report was written yet.">
          Write it at any time, also half-way: here, or with <code>almoner report {batch}</code>.
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

/** Written when the batch was sealed, and never changed since. */
export function ManifestPanel({ reply }: { readonly reply: BatchReply }) {
  const { summary, manifest } = reply;
  const ops = (['credit', 'debit', 'transfer'] as const).filter((op) => manifest.orders[op] > 0);
  return (
    <Panel title="Manifest">
      <Facts
        facts={[
          ['Realm', `${summary.realm} (${manifest.realmId})`],
          ['At', <span class="mono wrap">{manifest.baseUrl}</span>],
          ['Rows', grouped(summary.rows)],
          ...ops.map(
            (op) =>
              [
                op.charAt(0).toUpperCase() + op.slice(1),
                `${counted(manifest.orders[op], 'order')}, ${grouped(manifest.tokens[op])} tokens`,
              ] as const,
          ),
          ['Members', grouped(manifest.members)],
          ['Duplicates', grouped(manifest.duplicates)],
          ['Invalid', grouped(manifest.invalid)],
          ['Certainty', manifest.certainty],
          ['Currency', manifest.currency ?? 'the default one'],
          ['Worked by', summary.mode === 'run' ? 'the process that made it' : 'the workers'],
          ...(manifest.inOrder ? [['Order', 'strictly in file order'] as const] : []),
          ...(manifest.again === null ? [] : [['Again', manifest.again] as const]),
          ['Made', <Time at={summary.createdAt} />],
          ['Started', <Time at={summary.startedAt} />],
          ['Ended', <Time at={summary.finishedAt} />],
          ['SHA-256', <span class="mono small wrap">{manifest.sha256}</span>],
        ]}
      />
    </Panel>
  );
}
