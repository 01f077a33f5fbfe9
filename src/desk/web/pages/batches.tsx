import type { BatchState } from '../../../core/states.js';
import type { BatchesPage as Batches } from '../../api/index.js';
import { useResource } from '../live/resource.js';
import { useStore } from '../live/store.js';
import { live } from '../live/stream.js';
import { BatchLine } from '../parts/batch-line.js';
import { ListFilter, RealmFilter } from '../parts/filters.js';
import { Empty, Failure, Loading } from '../parts/notice.js';
import { Panel } from '../parts/panel.js';
import { apiPath, go, useAddress, withQuery } from '../shell/address.js';
import { Link } from '../shell/link.js';
import { Page } from '../shell/page.js';

const STATES = ['running', 'halted', 'paused', 'planned', 'done', 'cancelled'] satisfies BatchState[];

/** Every batch, newest first. The running ones move with the live picture. */
export function BatchesPage() {
  const { query } = useAddress();
  const cursor = query.get('cursor');
  const { value, failure, reload } = useResource<Batches>(
    apiPath('/api/batches', { realm: query.get('realm'), state: query.get('state'), cursor, limit: '30' }),
  );
  const { overview } = useStore(live);
  const fresh = new Map((overview?.batches ?? []).map((batch) => [batch.batch, batch]));
  return (
    <Page title="Batches">
      <div class="filters">
        <RealmFilter />
        <ListFilter name="state" label="State" values={STATES} />
      </div>
      {failure !== null && <Failure failure={failure} onRetry={reload} />}
      {value === null ? (
        failure === null && <Loading rows={10} />
      ) : (
        <Panel title={cursor === null ? 'Newest first' : 'Earlier batches'} flush>
          {value.batches.length === 0 ? (
            <Empty title="No batch here.">
              Nothing matches, or nothing was imported yet. <Link to="/import">Import a CSV</Link>.
            </Empty>
          ) : (
            <ul>
              {value.batches.map((batch) => (
                <BatchLine key={batch.batch} batch={fresh.get(batch.batch) ?? batch} />
              ))}
            </ul>
          )}
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
