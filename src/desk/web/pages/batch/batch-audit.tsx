import { useEffect } from 'preact/hooks';
import type { AuditPage } from '../../../api-types.js';
import { useResource } from '../../live/resource.js';
import { AuditTable } from '../../parts/audit-table.js';
import { Failure, Loading } from '../../parts/notice.js';
import { Panel } from '../../parts/panel.js';

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
