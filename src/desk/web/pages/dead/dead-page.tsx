import { useEffect, useState } from 'preact/hooks';
import { amountsWords } from '../../../../words/amounts.js';
import { counted, grouped } from '../../../../words/spelling.js';
import type { DeadGroups, DeadSelection, TaskReply } from '../../../api/index.js';
import { useIsOperator } from '../../live/call.js';
import { useResource } from '../../live/resource.js';
import { useIsRehearsal, useUnsettledNews } from '../../live/stream.js';
import { ListFilter, RealmFilter, TextFilter } from '../../parts/filters.js';
import { RehearsalChip, StateMark } from '../../parts/marks.js';
import { OrdersTable, SCREEN_ROWS, useOrders } from '../../parts/orders.js';
import { Pager } from '../../parts/pager.js';
import { Empty, Pending } from '../../parts/panel.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { BatchLink, pathWith, useAddress } from '../../shell/address.js';
import { Page } from '../../shell/page.js';
import { type Ask, DeadAction, DeadButtons } from './dead-action.js';

/** The page of dead letters, grouped by cause: most of the time one decision fits a whole group. */
export function DeadPage() {
  const { query } = useAddress();
  const filter = { realm: query.get('realm'), batch: query.get('batch'), class: query.get('class') };
  const groups = useResource<DeadGroups>(pathWith('/api/dead', filter));
  const { value, reload } = groups;
  useEffect(reload, [useUnsettledNews()]);
  const [asking, setAsking] = useState<Parameters<Ask> | null>(null);
  const [tasks, setTasks] = useState<readonly TaskReply[]>([]);
  const operator = useIsOperator();
  const ask: Ask = (...question) => setAsking(question);
  const selection = selectionOf(filter);
  const isFiltered = Object.keys(selection).length > 0;
  const total = value?.groups.reduce((sum, { count }) => sum + count, 0) ?? 0;
  const isWhole = value?.scanned === value?.of;
  return (
    <Page
      title="Dead letters"
      lead="Refused by the realm, used up, or called unpaid by a person. Doubts have their own page."
      actions={
        operator &&
        isFiltered &&
        total > 0 && (
          <DeadButtons
            ask={ask}
            selection={selection}
            what="all that match the filter"
            many={isWhole ? ` all ${grouped(total)} filtered` : ' all filtered'}
          />
        )
      }
    >
      <DeadFilters groups={value?.groups ?? []} />
      <Tasks tasks={tasks} onEnd={reload} onTasks={setTasks} />
      <Pending of={groups} rows={10} />
      {value !== null && <Scanned value={value} isFiltered={isFiltered} />}
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
          asking={asking}
          onStarted={(task) => setTasks([task, ...tasks].slice(0, 8))}
          onClose={() => setAsking(null)}
        />
      )}
    </Page>
  );
}

type TasksProps = {
  readonly tasks: readonly TaskReply[];
  readonly onEnd: () => void;
  readonly onTasks: (tasks: readonly TaskReply[]) => void;
};

function Tasks({ tasks, onEnd, onTasks }: TasksProps) {
  return (
    <>
      {tasks.map((task) => (
        <TaskProgress
          key={task.task}
          started={task}
          onEnd={onEnd}
          onClose={() => onTasks(tasks.filter((other) => other.task !== task.task))}
        />
      ))}
    </>
  );
}

function DeadFilters({ groups }: { readonly groups: readonly Group[] }) {
  return (
    <div class="filters">
      <RealmFilter />
      <TextFilter name="batch" label="Batch" placeholder="batch id or prefix" />
      <ListFilter
        name="class"
        label="Class"
        values={[...new Set(groups.flatMap((group) => group.class ?? []))]}
      />
    </div>
  );
}

type ScannedProps = { readonly value: DeadGroups; readonly isFiltered: boolean };

/** Says that there are more dead letters than the groups show, or none. */
function Scanned({ value, isFiltered }: ScannedProps) {
  return (
    <>
      {value.scanned < value.of && (
        <p class="soft n">
          The first {grouped(value.scanned)} of {counted(value.of, 'dead letter')} are grouped here; a filter
          narrows them down.
        </p>
      )}
      {value.groups.length === 0 && (
        <section class="panel">
          <Empty title="No dead letters.">
            {isFiltered
              ? 'None matches this filter.'
              : 'None waits for a person. Those that were discarded or put into another file are not listed here.'}
          </Empty>
        </section>
      )}
    </>
  );
}

type Group = DeadGroups['groups'][number];
type Filter = Readonly<Record<'realm' | 'batch' | 'class', string | null>>;

function selectionOf(filter: Filter & { readonly message?: string }): DeadSelection {
  return Object.fromEntries(Object.entries(filter).filter(([, set]) => set !== null));
}

type DeadGroupProps = {
  readonly group: Group;
  readonly filter: Filter;
  readonly operator: boolean;
  readonly ask: Ask;
  /** The server's reply. A new reply reloads an open list. */
  readonly round: unknown;
};

/** One cause: how many orders it hit, and buttons for all or one of them. */
function DeadGroup(props: DeadGroupProps) {
  const { group, filter, operator, ask } = props;
  const [open, setOpen] = useState(false);
  const isRehearsal = useIsRehearsal();
  const selection = selectionOf({ ...filter, class: group.class, message: group.message });
  const what = `${counted(group.count, 'order')} of this group`;
  return (
    <section class="panel dead-group" aria-label={`${group.class ?? 'no class'}: ${group.message}`}>
      <div class="dead-head">
        <div class="dead-what">
          <h2>{group.message}</h2>
          <p class="soft small">
            <RehearsalChip on={group.realms.every(isRehearsal)} /> <StateMark state={group.state} />{' '}
            <code>{group.class}</code> in{' '}
            {group.batches.slice(0, 3).map((batch) => (
              <span key={batch}>
                <BatchLink batch={batch} />{' '}
              </span>
            ))}
            {group.batches.length > 3 &&
              `and ${counted(group.batches.length - 3, 'other batch', 'other batches')}`}
          </p>
        </div>
        <p class="dead-count n">
          <b>{grouped(group.count)}</b>{' '}
          <span class="dead-tokens soft small">{amountsWords(group.amounts)} tokens</span>
        </p>
        <div class="actions">
          {operator && <DeadButtons ask={ask} selection={selection} what={what} />}
          <button type="button" class="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Hide orders' : 'Show orders'}
          </button>
        </div>
      </div>
      {open && <GroupOrders {...props} />}
    </section>
  );
}

function GroupOrders({ group, filter, operator, ask, round }: DeadGroupProps) {
  const path = pathWith('/api/dead/orders', { ...filter, class: group.class, message: group.message });
  const [cursors, setCursors] = useState<readonly (string | null)[]>([null]);
  const found = useOrders(path, cursors.at(-1) ?? null, round);
  return (
    <>
      <OrdersTable
        label={`Orders: ${group.message}`}
        found={found}
        mixed
        empty={<Empty title="None left in this group." />}
        act={
          operator
            ? ({ order }) => (
                <DeadButtons row ask={ask} selection={{ orders: [order] }} what={`order ${order}`} />
              )
            : undefined
        }
      />
      {group.count > SCREEN_ROWS && (
        <Pager
          onBack={cursors.length < 2 ? null : () => setCursors(cursors.slice(0, -1))}
          onNext={found.next === null || found.looking ? null : () => setCursors([...cursors, found.next])}
        />
      )}
    </>
  );
}
