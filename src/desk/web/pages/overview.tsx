import { sumWords } from '../../../words/amounts.js';
import { bytesWords, counted, duration, grouped } from '../../../words/spelling.js';
import type { Overview } from '../../api/index.js';
import { session, signedIn } from '../live/call.js';
import { useStore } from '../live/store.js';
import { isClosedForPerson, live, recoveryWaited } from '../live/stream.js';
import { Time } from '../parts/marks.js';
import { Empty, Loading, Notice, Panel, Prose, Said, Typed } from '../parts/panel.js';
import { TaskProgress } from '../parts/task-progress.js';
import { BatchLink, Link, pathWith, placeOf } from '../shell/address.js';
import { Page } from '../shell/page.js';
import { BatchList } from './batches.js';
import { RecentDays } from './history/history-charts.js';
import { RealmPanel } from './realm-panel.js';

const OVER = new Set(['done', 'cancelled']);

/** The first page: everything that needs a person, then the realms and the running batches. */
export function OverviewPage() {
  const { overview } = useStore(live);
  const allRehearsal =
    overview !== null && overview.realms.length > 0 && overview.realms.every((realm) => realm.rehearsal);
  return (
    <Page title="Overview" rehearsal={allRehearsal}>
      {overview === null ? <Loading rows={14} /> : <Picture overview={overview} />}
    </Page>
  );
}

function Picture({ overview }: { readonly overview: Overview }) {
  const open = overview.batches.filter(({ state }) => !OVER.has(state));
  const over = overview.batches.filter(({ state }) => OVER.has(state));
  return (
    <>
      {overview.noWorker && <NoWorker overview={overview} />}
      <Recoveries overview={overview} />
      <LostSessions overview={overview} />
      <Schedules overview={overview} />
      <MissedTimes overview={overview} />
      <Attention overview={overview} />
      {overview.tasks
        .filter(({ state }) => state === 'running')
        .map((task) => (
          <TaskProgress key={task.task} started={task} />
        ))}
      <div class="realms">
        {overview.realms.map((realm) => (
          <RealmPanel key={`${realm.realm} ${realm.baseUrl} ${realm.realmId}`} realm={realm} />
        ))}
      </div>
      <Panel title="Under way" flush aside={<Link to="/batches">All batches</Link>}>
        {open.length === 0 ? (
          <Empty title="No batch is open.">
            <Link to="/import">Import a CSV</Link>.
          </Empty>
        ) : (
          <BatchList batches={open} />
        )}
      </Panel>
      {over.length > 0 && (
        <Panel title="Lately ended" flush>
          <BatchList batches={over.slice(0, 12)} />
        </Panel>
      )}
      <RecentDays />
      <Health overview={overview} />
    </>
  );
}

function NoWorker({ overview }: { readonly overview: Overview }) {
  const waiting = overview.realms.reduce((sum, realm) => sum + realm.waiting, 0);
  return (
    <div class="notice loud" role="alert">
      <p>
        <b>NO WORKER RUNNING</b>
        {waiting > 0 ? `, and ${counted(waiting, 'order waits', 'orders wait')}.` : ', and work waits.'}{' '}
        Nothing is being sent.
      </p>
      <p>
        Start one with <code>almoner worker</code>, on any machine that reaches this store.
      </p>
    </div>
  );
}

/** Realms that send nothing, or make no first sends, until a person decides. */
function Recoveries({ overview }: { readonly overview: Overview }) {
  const waited = recoveryWaited(overview);
  if (waited.length === 0) return null;
  return (
    <div class="notice loud" role="alert">
      {waited.map((realm) => (
        <p key={`${realm.realm} ${realm.baseUrl}`}>
          <b>
            {isClosedForPerson(realm)
              ? `Realm ${realm.realm} is closed: nothing is sent.`
              : `Realm ${realm.realm}: first sends wait for a person after a rollback of the store.`}
          </b>{' '}
          <Link to="/recovery">Look at it on the page Recovery</Link>
        </p>
      ))}
    </div>
  );
}

/** Dead processes that still hold orders. Those orders wait until a person acts. */
function LostSessions({ overview }: { readonly overview: Overview }) {
  const lost = overview.batches.flatMap(({ batch, amounts, waiting }) =>
    waiting.filter(({ session }) => session !== null).map((one) => ({ ...one, batch, amounts })),
  );
  if (lost.length === 0) return null;
  return (
    <div class="notice loud" role="alert">
      {lost.map(({ batch, amounts, session, orders, tokens, message, next }) => (
        <p key={`${batch} ${session}`}>
          <b>{counted(orders, 'ORDER STANDS', 'ORDERS STAND')} STILL</b> ({sumWords(tokens, amounts)}) in{' '}
          <Link to={placeOf('batch', batch)}>{batch}</Link>. <Prose text={message} /> <Typed command={next} />
        </p>
      ))}
    </div>
  );
}

/** Schedules with a last time that was missed, failed or skipped. */
function Schedules({ overview: { schedules } }: { readonly overview: Overview }) {
  const bad = schedules.filter(({ isGood }) => !isGood);
  if (bad.length === 0) return null;
  return (
    <Panel
      title={`${counted(bad.length, 'schedule')} to see to`}
      tone="bad"
      aside={<Link to="/rules">All rules</Link>}
    >
      <ul class="bullets">
        {bad.map(({ key, realm, rule, at, message, next, batch }) => (
          <li key={key}>
            <b>{rule}</b> in {realm}
            {at !== null && (
              <>
                , <Time at={at} />
              </>
            )}
            : <Said message={message} next={next ?? ''} /> {batch !== null && <BatchLink batch={batch} />}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Scheduled times that no process ran. They stay listed until a person makes them up or dismisses them. */
function MissedTimes({ overview: { missed } }: { readonly overview: Overview }) {
  const realms = missed.filter(({ times }) => times > 0);
  if (realms.length === 0) return null;
  return (
    <Panel title="Missed times" tone="bad" aside={<Link to="/calendar">Calendar</Link>}>
      <ul class="bullets">
        {realms.map(({ realm, times, since, rules }) => (
          <li key={realm}>
            <b>{counted(times, 'scheduled time')}</b> of {realm} paid nobody, the oldest <Time at={since} />:{' '}
            {rules.map((one, at) => (
              <span key={one.rule}>
                {at > 0 && ', '}
                <Link to={pathWith('/calendar', { rule: one.rule })}>{one.rule}</Link> ({one.times})
              </span>
            ))}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Everything that needs a person, at the top of the page. The panel keeps its place while it is empty. */
function Attention({ overview }: { readonly overview: Overview }) {
  const sum = (field: 'dead' | 'doubts') => overview.realms.reduce((total, realm) => total + realm[field], 0);
  const still = overview.batches.filter(({ waiting }) =>
    waiting.some(({ why, next }) => why !== 'doubt' && next !== null),
  ).length;
  const { workers } = overview;
  const tiles = [
    ['Doubts', '/doubts', sum('doubts'), 'none to decide', 'wait for your decision'],
    ['Dead letters', '/dead', sum('dead'), 'none', 'ended unpaid'],
    ['Standing still', '/notices', still, 'no batch', 'until a person acts'],
  ] as const;
  return (
    <ul class="tiles">
      {tiles.map(([name, to, value, quiet, loud]) => (
        <li key={to} class={value > 0 ? 'tile warn' : 'tile'}>
          <Link to={to} class="tile-name">
            {name}
          </Link>
          <b class="tile-value n">{grouped(value)}</b>
          <span class="soft small">{value > 0 ? loud : quiet}</span>
        </li>
      ))}
      <li class={overview.noWorker ? 'tile bad' : 'tile'}>
        <span class="tile-name">Workers</span>
        <b class="tile-value n">{grouped(workers.alive)}</b>
        <span class="soft small">{workers.alive === 0 ? 'none running' : 'alive'}</span>
      </li>
      <li class={overview.store.up ? 'tile' : 'tile bad'}>
        <span class="tile-name">Store</span>
        <b class="tile-value">{overview.store.up ? 'up' : 'DOWN'}</b>
        <span class="soft small n">
          {overview.store.latencyMs === null
            ? 'no answer'
            : `answers in ${duration(overview.store.latencyMs)}`}
        </span>
      </li>
    </ul>
  );
}

function Health({ overview }: { readonly overview: Overview }) {
  const { store, workers } = overview;
  const who = useStore(session);
  return (
    <Panel title="Workers and store">
      {!store.up && (
        <Notice tone="bad">
          <b>The store does not answer.</b> Nothing is sent while it is down, and nothing is lost. Run{' '}
          <code>almoner doctor</code>.
        </Notice>
      )}
      <ul class="processes">
        {workers.processes.map((worker) => (
          <li key={worker.session}>
            <span class={`pill w-${worker.state}`}>{worker.state}</span> {worker.kind} on {worker.machine}{' '}
            <span class="soft small">
              <span class="mono">{worker.session}</span>
              {worker.realms.length > 0 && ` · ${worker.realms.join(', ')}`}
            </span>
          </li>
        ))}
        {workers.processes.length === 0 && <li class="soft">No process is registered.</li>}
      </ul>
      <p class="soft small n">
        <span class="wrap">{store.address}</span>
        {store.version !== null && `, Redis ${store.version}`}
        {store.usedBytes !== null && `, ${bytesWords(store.usedBytes)} used`}
        {signedIn(who)?.roles.join() === 'viewer' && ' · you may look, not change'}
      </p>
    </Panel>
  );
}
