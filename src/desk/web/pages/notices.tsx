import { counted } from '../../../words/spelling.js';
import type { Delivery, Matter, NoticesPage as Notices } from '../../api/index.js';
import { change, useIsOperator } from '../live/call.js';
import { useChange, useFreshResource } from '../live/resource.js';
import { useStore } from '../live/store.js';
import { live } from '../live/stream.js';
import { Button } from '../parts/fields.js';
import { Time } from '../parts/marks.js';
import { CursorPager } from '../parts/pager.js';
import { Empty, Failure, Loading, Panel, Pending, Prose, Table } from '../parts/panel.js';
import { BatchLink, Link, pathWith, placeOf, useAddress } from '../shell/address.js';
import { Page } from '../shell/page.js';

/** The page of alerts and messages. It polls, because messages are delivered within seconds. */

export function NoticesPage() {
  const { overview } = useStore(live);
  const { query } = useAddress();
  const notices = useFreshResource<Notices>(pathWith('/api/notices', { cursor: query.get('cursor') }));
  const { value } = notices;
  return (
    <Page title="Notices" lead="What waits for a person, who is told of it, and what became of each notice.">
      <Panel title="Waits for a person" flush>
        {overview === null ? <Loading rows={3} /> : <Matters matters={overview.matters} />}
      </Panel>
      <Pending of={notices} rows={8} />
      {value !== null && <Targets targets={value.targets} onSent={notices.reload} />}
      {value !== null && (
        <Panel
          title="Sent and to be sent"
          flush
          aside={value.waiting > 0 && <span>{counted(value.waiting, 'notice')} not delivered yet</span>}
        >
          <Deliveries deliveries={value.deliveries} onSent={notices.reload} />
          <CursorPager next={value.next} />
        </Panel>
      )}
    </Page>
  );
}

const EVENT_WORDS: Readonly<Record<Matter['event'], string>> = {
  'batch.finished': 'batch ended',
  'batch.halted': 'batch halted',
  'batch.paused': 'batch paused',
  'batch.doubt': 'doubts',
  'batch.approval': 'waits for an approval',
  'batch.missed': 'set time missed',
  'batch.no-worker': 'no worker',
  'batch.missing-session': 'sender lost',
  'realm.hold': 'long hold',
  'realm.after-rollback': 'first sends wait for a person',
  'schedule.done': 'schedule ran',
  'schedule.failed': 'schedule failed',
  'schedule.waits': 'rule waits for approval',
  'schedule.missed': 'scheduled times missed',
  'store.away': 'store away',
  test: 'test',
};

function Matters({ matters }: { readonly matters: readonly Matter[] }) {
  if (matters.length === 0) return <Empty title="Nothing waits for a person." />;
  return (
    <Table label="What waits for a person" heads={['What', 'Realm', 'Since', 'Why', 'Where']}>
      {matters.map((one) => (
        <tr key={`${one.subject} ${one.event}`}>
          <td>{EVENT_WORDS[one.event]}</td>
          <td>{one.realm ?? ''}</td>
          <td>
            <Time at={one.since} />
          </td>
          <td class="what">
            <Prose text={one.message} />
          </td>
          <td>{whereOf(one)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** The page on which a person ends the alert, or else the command. */
function whereOf({ event, batch, rule, next }: Matter) {
  if (event === 'batch.doubt' && batch !== null)
    return <Link to={pathWith('/doubts', { batch })}>Doubts</Link>;
  if (event === 'batch.approval' && batch !== null)
    return <Link to={placeOf('approval', batch)}>Approvals</Link>;
  if (event === 'realm.after-rollback') return <Link to="/recovery">Recovery</Link>;
  if (batch !== null && next?.startsWith('almoner recover') === true)
    return (
      <>
        <BatchLink batch={batch} /> <Link to="/recovery">Recovery</Link>
      </>
    );
  if (batch !== null) return <BatchLink batch={batch} />;
  if (rule !== null) return <Link to="/rules">{rule}</Link>;
  return next === null ? '' : <code>{next}</code>;
}

function Targets({ targets, onSent }: { targets: Notices['targets']; onSent: () => void }) {
  const isOperator = useIsOperator();
  const { busy, failure, attempt } = useChange();
  if (targets.length === 0)
    return (
      <Panel title="Who is told">
        <Empty title="Nobody is told: the configuration names no place.">
          <code>notifications</code> in <code>almoner.config.yaml</code> names a webhook or a chat, for all
          realms or for one.
        </Empty>
      </Panel>
    );
  const test = (target: string) => void attempt(() => change('/api/notices/test', { target }).then(onSent));
  return (
    <Panel title="Who is told" flush>
      <Failure failure={failure} />
      <Table label="Where notices go" heads={['To', 'Server', 'Of what', ['Actions', 'unseen']]}>
        {targets.map(({ target, place, events }) => (
          <tr key={target}>
            <td>{target}</td>
            <td class="what">{place ?? 'its address cannot be read'}</td>
            <td class="what soft">{events.map((event) => EVENT_WORDS[event]).join(', ')}</td>
            <td>
              {isOperator && (
                <Button
                  name="Send a test"
                  label={`Send a test to ${target}`}
                  disabled={busy}
                  onPress={() => test(target)}
                />
              )}
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

const STATE_PILLS: Readonly<Record<Delivery['state'], string>> = {
  waiting: 'pill b-paused',
  delivered: 'pill b-done',
  'given-up': 'pill b-halted',
};

function Deliveries({ deliveries, onSent }: { deliveries: Notices['deliveries']; onSent: () => void }) {
  const isOperator = useIsOperator();
  const { busy, failure, attempt } = useChange();
  if (deliveries.length === 0) return <Empty title="Nothing was told yet." />;
  const again = (id: string) => void attempt(() => change(`/api/notices/${id}/replay`).then(onSent));
  return (
    <>
      <Failure failure={failure} />
      <Table
        label="Notices"
        heads={['When', 'What', 'To', 'State', 'Tries', 'Last answer', ['Actions', 'unseen']]}
      >
        {deliveries.map((one) => (
          <tr key={one.id}>
            <td>
              <Time at={one.at} />
            </td>
            <td class="what">
              {EVENT_WORDS[one.event]}
              {one.batch !== null && (
                <>
                  {' '}
                  <BatchLink batch={one.batch} />
                </>
              )}
              <br />
              <span class="soft small">{one.message}</span>
            </td>
            <td>{one.target}</td>
            <td>
              <span class={STATE_PILLS[one.state]}>{one.state}</span>
            </td>
            <td>{counted(one.tries, 'try', 'tries')}</td>
            <td class="what soft">
              {one.why ?? (one.status === null ? '' : `status ${one.status}`)}
              {one.nextAt !== null && one.tries > 0 && (
                <>
                  ; next try <Time at={one.nextAt} />
                </>
              )}
            </td>
            <td>
              {isOperator && one.state !== 'waiting' && (
                <Button
                  name="Send again"
                  label={`Send ${one.id} again`}
                  disabled={busy}
                  onPress={() => again(one.id)}
                />
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
