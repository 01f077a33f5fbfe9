import { useState } from 'preact/hooks';
import { counted, grouped } from '../../../../words/spelling.js';
import type { DeadGroups, DeadSelection, TaskReply } from '../../../api/index.js';
import { useResource } from '../../live/resource.js';
import { mayChange, session } from '../../live/session.js';
import { useStore } from '../../live/store.js';
import { ListFilter, RealmFilter, TextFilter } from '../../parts/filters.js';
import { Empty, Failure, Loading } from '../../parts/notice.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { apiPath, useAddress } from '../../shell/address.js';
import { Page } from '../../shell/page.js';
import { type Ask, DeadAction } from './dead-action.js';
import { DeadGroup } from './dead-group.js';

/** Orders that ended unpaid, by cause: most of the time one decision fits a whole group. */
export function DeadPage() {
  const { query } = useAddress();
  const filter = { realm: query.get('realm'), batch: query.get('batch'), class: query.get('class') };
  const { value, failure, reload } = useResource<DeadGroups>(apiPath('/api/dead', filter));
  const [asking, setAsking] = useState<Parameters<Ask> | null>(null);
  const [tasks, setTasks] = useState<readonly TaskReply[]>([]);
  const operator = mayChange(useStore(session));
  const ask: Ask = (...question) => setAsking(question);
  const selection: DeadSelection = Object.fromEntries(
    Object.entries(filter).filter(([, set]) => set !== null),
  );
  const isFiltered = Object.keys(selection).length > 0;
  const total = value?.groups.reduce((sum, { count }) => sum + count, 0) ?? 0;
  return (
    <Page
      title="Dead letters"
      lead="Refused or exhausted: definitely not applied. Doubts have their own page."
      actions={
        operator &&
        isFiltered &&
        total > 0 && (
          <>
            <button type="button" onClick={() => ask('retry', selection, 'all that match the filter')}>
              Retry all {grouped(total)} filtered
            </button>
            <button
              type="button"
              class="danger-quiet"
              onClick={() => ask('discard', selection, 'all that match the filter')}
            >
              Discard all {grouped(total)} filtered
            </button>
          </>
        )
      }
    >
      <div class="filters">
        <RealmFilter />
        <TextFilter name="batch" label="Batch" placeholder="batch id or prefix" />
        <ListFilter
          name="class"
          label="Class"
          values={[...new Set((value?.groups ?? []).flatMap((group) => group.class ?? []))]}
        />
      </div>
      {tasks.map((task) => (
        <TaskProgress
          key={task.task}
          started={task}
          onEnd={reload}
          onClose={() => setTasks(tasks.filter((other) => other.task !== task.task))}
        />
      ))}
      {failure !== null && <Failure failure={failure} onRetry={reload} />}
      {value === null && failure === null && <Loading rows={10} />}
      {value !== null && value.scanned < value.of && (
        <p class="soft n">
          The first {grouped(value.scanned)} of {counted(value.of, 'dead letter')} are grouped here; a filter
          narrows them down.
        </p>
      )}
      {value?.groups.length === 0 && (
        <section class="panel">
          <Empty title="No dead letters.">
            {isFiltered
              ? 'None matches this filter.'
              : 'Every order that ended was paid, is a duplicate, was discarded or was put into another file.'}
          </Empty>
        </section>
      )}
      {value?.groups.map((group) => (
        <DeadGroup
          key={`${group.class} ${group.message} ${group.state}`}
          group={group}
          filter={filter}
          operator={operator}
          ask={ask}
          round={value}
        />
      ))}
      {asking !== null && (
        <DeadAction
          verb={asking[0]}
          selection={asking[1]}
          what={asking[2]}
          onStarted={(task) => setTasks([task, ...tasks].slice(0, 8))}
          onClose={() => setAsking(null)}
        />
      )}
    </Page>
  );
}
