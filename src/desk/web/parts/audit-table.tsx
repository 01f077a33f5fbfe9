import { useEffect } from 'preact/hooks';
import type { AuditPage } from '../../api/index.js';
import { useResource } from '../live/resource.js';
import { BatchLink } from '../shell/link.js';
import { Empty, Failure, Loading } from './notice.js';
import { Panel, Scroll } from './panel.js';
import { Time } from './time.js';

type AuditTableProps = {
  readonly entries: AuditPage['entries'];
  readonly label: string;
  readonly withBatch?: boolean;
};

export function AuditTable({ entries, label, withBatch = false }: AuditTableProps) {
  if (entries.length === 0) return <Empty title="Nobody did anything yet." />;
  return (
    <Scroll label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col">Why</th>
            {withBatch && <th scope="col">Batch</th>}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry, at) => (
            <tr key={`${entry.at} ${at}`}>
              <td>
                <Time at={entry.at} />
              </td>
              <td>{entry.who}</td>
              <td class="what">{entry.what}</td>
              <td class="what soft">{entry.why ?? ''}</td>
              {withBatch && <td>{entry.batch !== null && <BatchLink batch={entry.batch} />}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

export function BatchAudit({ batch, state }: { readonly batch: string; readonly state: string }) {
  const { value, failure, reload } = useResource<AuditPage>(
    `/api/batches/${encodeURIComponent(batch)}/audit`,
  );
  // Whoever changed its state has left an entry.
  useEffect(reload, [state]);
  return (
    <Panel title="Who did what" flush>
      {failure !== null && <Failure failure={failure} onRetry={reload} />}
      {value === null ? (
        failure === null && <Loading rows={4} />
      ) : (
        <AuditTable entries={value.entries} label="Audit of this batch" />
      )}
    </Panel>
  );
}
