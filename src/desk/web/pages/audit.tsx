import { useEffect } from 'preact/hooks';
import type { AuditPage as Audit } from '../../api/index.js';
import { useResource } from '../live/resource.js';
import { Button } from '../parts/fields.js';
import { Time } from '../parts/marks.js';
import { CursorPager } from '../parts/pager.js';
import { Empty, Panel, Pending, Table } from '../parts/panel.js';
import { BatchLink, pathWith, useAddress } from '../shell/address.js';
import { Page } from '../shell/page.js';

export function AuditPage() {
  const { query } = useAddress();
  const cursor = query.get('cursor');
  const audit = useResource<Audit>(pathWith('/api/audit', { cursor, limit: '100' }));
  const { value } = audit;
  return (
    <Page title="Audit" lead="Every change made at this desk: who, when, what, why. Newest first.">
      <Pending of={audit} rows={12} />
      {value !== null && (
        <Panel
          title={cursor === null ? 'Newest' : 'Earlier'}
          flush
          aside={<Button name="Refresh" look="quiet" onPress={audit.reload} />}
        >
          <AuditTable entries={value.entries} label="Audit of the desk" withBatch />
          <CursorPager next={value.next} />
        </Panel>
      )}
    </Page>
  );
}

export function BatchAudit({ batch, state }: { readonly batch: string; readonly state: string }) {
  const audit = useResource<Audit>(`/api/batches/${encodeURIComponent(batch)}/audit`);
  // Whoever changed its state has left an entry.
  useEffect(audit.reload, [state]);
  return (
    <Panel title="Who did what" flush>
      <Pending of={audit} rows={4} />
      {audit.value !== null && <AuditTable entries={audit.value.entries} label="Audit of this batch" />}
    </Panel>
  );
}

type AuditTableProps = {
  readonly entries: Audit['entries'];
  readonly label: string;
  readonly withBatch?: boolean;
};

function AuditTable({ entries, label, withBatch = false }: AuditTableProps) {
  if (entries.length === 0) return <Empty title="Nobody did anything yet." />;
  return (
    <Table label={label} heads={['When', 'Who', 'What', 'Why', ...(withBatch ? ['Batch'] : [])]}>
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
    </Table>
  );
}
