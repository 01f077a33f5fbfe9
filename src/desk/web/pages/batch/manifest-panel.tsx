import type { BatchReply } from '../../../api-types.js';
import { Facts, Panel } from '../../parts/panel.js';
import { Time } from '../../parts/time.js';
import { counted, grouped } from '../../words/numbers.js';

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
