import { useState } from 'preact/hooks';
import { counted, grouped } from '../../../../words/spelling.js';
import type { CalendarReply, MissedTime, PastRun, TaskReply } from '../../../api/index.js';
import { change, useIsOperator } from '../../live/call.js';
import { useChange, useFreshResource } from '../../live/resource.js';
import { Confirm } from '../../parts/confirm.js';
import { Button } from '../../parts/fields.js';
import { ListFilter } from '../../parts/filters.js';
import { Time } from '../../parts/marks.js';
import { CursorPager } from '../../parts/pager.js';
import { Empty, Failure, Notice, Panel, Pending, Prose } from '../../parts/panel.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { BatchLink, go, Link, pathWith, useAddress } from '../../shell/address.js';
import { Page } from '../../shell/page.js';

/** The page of scheduled times: the missed ones until a person dismisses them, then past and coming times by day. */
export function CalendarPage() {
  const { query } = useAddress();
  const [rule, cursor] = [query.get('rule'), query.get('cursor')];
  const calendar = useFreshResource<CalendarReply>(pathWith('/api/calendar', { rule, cursor, limit: '50' }));
  const { value, reload } = calendar;
  const rules =
    value === null ? [] : [...value.missed, ...value.past, ...value.coming].map((one) => one.rule);
  return (
    <Page
      title="Calendar"
      lead={
        <>
          When the <Link to="/rules">rules</Link> ran, and when they run next. Days are of UTC.
        </>
      }
    >
      <div class="filters">
        <ListFilter name="rule" label="Rule" values={[...new Set(rules)].sort()} />
      </div>
      <Pending of={calendar} rows={12} />
      {value !== null && (
        <>
          <Missed calendar={value} onDone={reload} />
          {cursor === null && <Coming calendar={value} />}
          <Panel title={cursor === null ? 'Past runs' : 'Earlier runs'}>
            {value.past.length === 0 && <Empty title="No run yet." />}
            <ByDay times={value.past}>{(one) => <PastLine run={one} />}</ByDay>
            <CursorPager next={value.next} />
          </Panel>
        </>
      )}
    </Page>
  );
}

type Timed = { readonly at: string; readonly rule: string; readonly realm: string; readonly period: string };

function ByDay<T extends Timed>({
  times,
  children,
}: {
  readonly times: readonly T[];
  readonly children: (time: T) => preact.ComponentChildren;
}) {
  const days = [...new Set(times.map(({ at }) => at.slice(0, 10)))];
  return (
    <>
      {days.map((day) => (
        <section key={day} aria-label={day}>
          <h3 class="n">{day}</h3>
          <ul class="bullets">
            {times
              .filter(({ at }) => at.startsWith(day))
              .map((time) => (
                <li key={`${time.at} ${time.realm} ${time.rule}`}>
                  <Time at={time.at} /> <b>{time.rule}</b> in {time.realm},{' '}
                  <span class="soft">{time.period}</span>: {children(time)}
                </li>
              ))}
          </ul>
        </section>
      ))}
    </>
  );
}

const SUMS = ['paid', 'refused', 'doubt', 'open'] as const;

function PastLine({ run: { outcome, message, batch, sums, dismissed } }: { readonly run: PastRun }) {
  const amounts = SUMS.flatMap((what) => {
    const sum = sums?.[what];
    return sum === undefined || sum.orders === 0
      ? []
      : [`${what} ${grouped(sum.orders)} (${counted(BigInt(sum.tokens), 'token')})`];
  });
  return (
    <>
      <b>{outcome}</b> {amounts.join(', ')} {batch !== null && <BatchLink batch={batch} />}{' '}
      {message !== null && <Prose text={message} />}{' '}
      {dismissed !== null && (
        <span class="soft">
          by {dismissed.who}, <Time at={dismissed.at} />: {dismissed.why}
        </span>
      )}
    </>
  );
}

function Coming({ calendar: { coming } }: { readonly calendar: CalendarReply }) {
  const [all, setAll] = useState(false);
  const shown = all ? coming : coming.slice(0, COMING_SHOWN);
  return (
    <Panel title="Coming runs">
      {coming.length === 0 && <Empty title="No time comes within 31 days." />}
      <ByDay times={shown}>{({ state }) => (state === 'runs' ? <>runs</> : <b>{state}</b>)}</ByDay>
      {shown.length < coming.length && (
        <Button name={`Show all ${coming.length}`} onPress={() => setAll(true)} />
      )}
    </Panel>
  );
}

const COMING_SHOWN = 10;

type Asked = { readonly rule: string; readonly times: readonly string[] };

function Missed({
  calendar: { missed, older, unserved },
  onDone,
}: {
  readonly calendar: CalendarReply;
  readonly onDone: () => void;
}) {
  const operator = useIsOperator();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [task, setTask] = useState<TaskReply | null>(null);
  const planning = useChange();
  const makeUp = ({ rule, at }: MissedTime) =>
    planning.attempt(async () =>
      setTask(await change<TaskReply>(`/api/rules/${encodeURIComponent(rule)}/plan`, { missed: at })),
    );
  if (missed.length + unserved.length === 0)
    return (
      <Panel title="Missed times">
        <Empty title="No scheduled time was missed." />
      </Panel>
    );
  return (
    <Panel title={`${counted(missed.length, 'missed time')} paid nobody`} tone="bad">
      {unserved.map(({ realm, rule, message }) => (
        <Notice key={`${realm} ${rule}`} tone="bad">
          <b>{rule}</b> in {realm}: <Prose text={message} />
        </Notice>
      ))}
      <Failure failure={planning.failure} />
      <TaskProgress
        started={task}
        onEnd={(ended) => {
          if (ended.result.plan !== null) go(`/rules/plans/${encodeURIComponent(ended.result.plan)}`);
        }}
        onClose={() => setTask(null)}
      />
      <ul class="bullets">
        {missed.map((one) => (
          <MissedLine
            key={`${one.at} ${one.realm} ${one.rule}`}
            missed={one}
            operator={operator}
            onMakeUp={() => makeUp(one)}
            onDismiss={() => setAsked({ rule: one.rule, times: [one.at] })}
          />
        ))}
        {older.map(({ realm, rule, times }) => (
          <li key={`${realm} ${rule}`}>
            {counted(times, 'time')} of <b>{rule}</b> before those, which the list does not hold
          </li>
        ))}
      </ul>
      {operator && <LetAllGo missed={missed} onAsk={setAsked} />}
      {asked !== null && <DismissTimes asked={asked} onDone={onDone} onClose={() => setAsked(null)} />}
    </Panel>
  );
}

type LetAllGoProps = { readonly missed: readonly MissedTime[]; readonly onAsk: (asked: Asked) => void };

function LetAllGo({ missed, onAsk }: LetAllGoProps) {
  const rules = [...new Set(missed.map(({ rule }) => rule))].map((rule) => ({
    rule,
    times: missed.filter((one) => one.rule === rule).map(({ at }) => at),
  }));
  return (
    <div class="buttons">
      {rules
        .filter(({ times }) => times.length > 1)
        .map((asked) => (
          <Button
            key={asked.rule}
            name={`Dismiss all ${asked.times.length} of ${asked.rule}`}
            onPress={() => onAsk(asked)}
          />
        ))}
    </div>
  );
}

type MissedLineProps = {
  readonly missed: MissedTime;
  readonly operator: boolean;
  readonly onMakeUp: () => void;
  readonly onDismiss: () => void;
};

function MissedLine({ missed, operator, onMakeUp, onDismiss }: MissedLineProps) {
  const { at, rule, realm, period, why, held, mayBeForgotten, makeUp } = missed;
  const about = `${rule}, ${at}`;
  return (
    <li>
      <Time at={at} /> <b>{rule}</b> in {realm}: <Prose text={why} />{' '}
      <span class="soft">
        In its period {period} {held === '0' ? 'nothing is' : `${counted(BigInt(held), 'token')} are`} paid or
        planned.
      </span>{' '}
      {mayBeForgotten && (
        <b>The store was rolled back since: the run of this time may have been forgotten with it. </b>
      )}
      {makeUp === null ? (
        <span>No rule of that name has this period any more: pay who is missing with a CSV file. </span>
      ) : (
        <code class="wrap">{makeUp}</code>
      )}{' '}
      {operator && makeUp !== null && (
        <Button name="Make up" label={`Make up: ${about}`} look="primary" onPress={onMakeUp} />
      )}{' '}
      {operator && <Button name="Dismiss" label={`Dismiss: ${about}`} onPress={onDismiss} />}
    </li>
  );
}

type LetGoProps = { readonly asked: Asked; readonly onDone: () => void; readonly onClose: () => void };

function DismissTimes({ asked: { rule, times }, onDone, onClose }: LetGoProps) {
  return (
    <Confirm
      title={`Dismiss ${counted(times.length, 'missed time')} of ${rule}?`}
      verb="Dismiss"
      reason="must"
      act={async (said) => {
        await change(`/api/rules/${encodeURIComponent(rule)}/dismiss`, { times, ...said }).finally(onDone);
      }}
      onClose={onClose}
    >
      <p>
        Nobody is paid for {times.length === 1 ? 'it' : 'them'}:{' '}
        {times.length === 1 ? 'it leaves' : 'they leave'} the list and stay{times.length === 1 ? 's' : ''}{' '}
        among the past runs, with your name and reason.
      </p>
    </Confirm>
  );
}
