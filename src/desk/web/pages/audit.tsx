import type { AuditPage as Audit } from '../../api/index.js';
import { useResource } from '../live/resource.js';
import { AuditTable } from '../parts/audit-table.js';
import { Failure, Loading } from '../parts/notice.js';
import { Panel } from '../parts/panel.js';
import { apiPath, go, useAddress, withQuery } from '../shell/address.js';
import { Page } from '../shell/page.js';

export function AuditPage() {
  const { query } = useAddress();
  const cursor = query.get('cursor');
  const { value, failure, reload } = useResource<Audit>(apiPath('/api/audit', { cursor, limit: '100' }));
  return (
    <Page title="Audit" lead="Every change made at this desk: who, when, what, why. Newest first.">
      {failure !== null && <Failure failure={failure} onRetry={reload} />}
      {value === null ? (
        failure === null && <Loading rows={12} />
      ) : (
        <Panel
          title={cursor === null ? 'Newest' : 'Earlier'}
          flush
          aside={
            <button type="button" class="quiet" onClick={reload}>
              Refresh
            </button>
          }
        >
          <AuditTable entries={value.entries} label="Audit of the desk" withBatch />
          <div class="pager">
            <button type="button" disabled={cursor === null} onClick={() => history.back()}>
              Back
            </button>
            <button
              type="button"
              disabled={value.next === null}
              onClick={() => go(withQuery({ cursor: value.next }))}
            >
              Next
            </button>
          </div>
        </Panel>
      )}
    </Page>
  );
}
