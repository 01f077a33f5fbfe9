import { useState } from 'preact/hooks';
import { NOT_BY_TWO, whyNotSecond } from '../../../../words/people.js';
import { counted } from '../../../../words/spelling.js';
import type { ExplainReply, RuleRow, ScheduleRow } from '../../../api/index.js';
import { useMe } from '../../live/call.js';
import { useResource } from '../../live/resource.js';
import { useIsRehearsal } from '../../live/stream.js';
import { Button, Choice, TextField } from '../../parts/fields.js';
import { RehearsalChip, Time } from '../../parts/marks.js';
import { Facts, Failure, Loading, Notice, Panel, Said } from '../../parts/panel.js';
import { BatchLink, pathWith } from '../../shell/address.js';
import { type RuleAsked, STEPS, stepsOf } from './rule-steps.js';

type RuleCardProps = {
  readonly rule: RuleRow;
  readonly onPlan: () => void;
  readonly onAsk: (asked: RuleAsked) => void;
};

const STATES = { ready: 'ready', waits: 'waits for approval', faulty: 'faulty' } as const;

/** One rule: its schedule, its approval, its last run and the next steps. */
export function RuleCard({ rule, onPlan, onAsk }: RuleCardProps) {
  const me = useMe();
  const operator = me.roles.includes('operator');
  const isRehearsal = useIsRehearsal();
  return (
    <Panel
      title={rule.rule}
      {...(rule.state === 'faulty' ? { tone: 'bad' as const } : {})}
      aside={
        <>
          <RehearsalChip on={isRehearsal(rule.realm)} />
          <span class={`pill r-${rule.state}`}>{STATES[rule.state]}</span>
          {rule.standing?.paused != null && <span class="pill r-waits">paused</span>}
          {stepsOf(rule, me).map((step) => (
            <Button
              key={step}
              name={STEPS[step].name}
              label={`${STEPS[step].name}: ${rule.rule}`}
              onPress={() => onAsk({ rule, step })}
            />
          ))}
          {operator && rule.state !== 'faulty' && (
            <Button name="Plan and run" look="primary" label={`Plan and run ${rule.rule}`} onPress={onPlan} />
          )}
        </>
      }
    >
      <RuleNotices rule={rule} />
      <RuleFacts rule={rule} />
    </Panel>
  );
}

type RuleProps = Pick<RuleCardProps, 'rule'>;

function RuleNotices({ rule }: RuleProps) {
  const me = useMe();
  return (
    <>
      {rule.faults.length > 0 && (
        <Notice tone="bad">
          <ul class="bullets">
            {rule.faults.map((fault) => (
              <li key={fault}>{fault}</li>
            ))}
          </ul>
        </Notice>
      )}
      {rule.asked !== null && (
        <Notice tone="warn">
          <b>Approval was asked for</b> <SaidBy said={rule.asked} />. A second person has to give it.{' '}
          {whyNotSecond(me, rule.asked.who, 'asked for')}
        </Notice>
      )}
      {rule.state === 'ready' && rule.text !== null && <Notice tone="warn">{NOT_BY_TWO}</Notice>}
      {rule.standing !== null && <StandingNotice standing={rule.standing} />}
    </>
  );
}

function RuleFacts({ rule }: RuleProps) {
  const { standing } = rule;
  return (
    <Facts
      facts={[
        ['Realm', rule.realm === '' ? 'not known' : rule.realm],
        ['Reason', rule.reason ?? 'not known'],
        ['File', <span class="mono wrap">{rule.file}</span>],
        [
          'Schedule',
          rule.schedule === null ? (
            'only by hand'
          ) : (
            <>
              <code>{rule.schedule.cron}</code> {rule.schedule.timeZone}
            </>
          ),
        ],
        rule.approved !== null && ['Approved', <SaidBy said={rule.approved} />],
        rule.approved?.asked != null && ['Asked for', `by ${rule.approved.asked}`],
        rule.schedule !== null && ['Next runs', <NextRuns rule={rule} />],
        ['Last run', <Last last={rule.last} />],
        standing !== null && ['Last by schedule', <Outcome standing={standing} />],
      ]}
    />
  );
}

function Last({ last }: { readonly last: RuleRow['last'] }) {
  if (last === null) return <>never</>;
  return (
    <>
      <Time at={last.at} /> {last.result} {last.batch !== null && <BatchLink batch={last.batch} />}
    </>
  );
}

/** The outcome of the last scheduled time in one line. Outcomes that need a person are above the facts. */
function Outcome({ standing }: { readonly standing: ScheduleRow }) {
  const { at, message, batch } = standing;
  return (
    <>
      {at !== null && <Time at={at} />} {message} {batch !== null && <BatchLink batch={batch} />}
    </>
  );
}

function StandingNotice({
  standing: { isGood, message, next, at, paused, skip },
}: {
  readonly standing: ScheduleRow;
}) {
  return (
    <>
      {!isGood && (
        <Notice tone="bad">
          {at !== null && (
            <>
              <Time at={at} />:{' '}
            </>
          )}
          <Said message={message} next={next ?? ''} />
        </Notice>
      )}
      {paused !== null && (
        <Notice tone="warn">
          <b>Paused.</b> Its times pass without a run. <SaidBy said={paused} />
        </Notice>
      )}
      {skip !== null && (
        <Notice tone="warn">
          The run of <Time at={skip.time} /> is skipped. <SaidBy said={skip} />
        </Notice>
      )}
    </>
  );
}

function SaidBy({ said: { who, at, why } }: { readonly said: NonNullable<RuleRow['asked']> }) {
  return (
    <>
      by {who}, <Time at={at} />
      {why !== null && `: ${why}`}
    </>
  );
}

function NextRuns({ rule: { nextRuns, standing, state } }: { readonly rule: RuleRow }) {
  // A rule that waits for approval has no next run, even where its former text was approved.
  const first = state === 'ready' ? (standing?.nextAt ?? null) : null;
  const runs = nextRuns.filter(({ at }) => first !== null && at >= first);
  if (runs.length === 0) return <span class="soft">none</span>;
  return (
    <>
      {runs.slice(0, 3).map(({ at, period }, place) => (
        <span key={at}>
          {place > 0 && ', '}
          <Time at={at} /> <span class="soft">({period})</span>
        </span>
      ))}
    </>
  );
}

/** Explains why a member got an award, from the facts recorded at that run. */
export function ExplainMember({ rules }: { readonly rules: readonly RuleRow[] }) {
  const runs = rules.flatMap(({ rule, last }) => (last === null ? [] : [{ rule, run: last.run }]));
  const [run, setRun] = useState(runs[0]?.run ?? '');
  const [member, setMember] = useState('');
  const [asked, setAsked] = useState<string | null>(null);
  const { value, failure, loading } = useResource<ExplainReply>(asked);
  return (
    <Panel title="Explain a member">
      <form
        class="filters flat"
        onSubmit={(event) => {
          event.preventDefault();
          setAsked(pathWith(`/api/rule-runs/${encodeURIComponent(run)}/explain`, { member: member.trim() }));
        }}
      >
        <Choice label="Run" value={run} onChoice={setRun}>
          {runs.map((entry) => (
            <option key={entry.run} value={entry.run}>
              {entry.rule}: {entry.run}
            </option>
          ))}
        </Choice>
        <TextField label="Member" required value={member} onText={setMember} />
        <button type="submit">Explain</button>
      </form>
      <div aria-live="polite">
        {loading && asked !== null && value === null && <Loading rows={3} />}
        <Failure failure={failure} />
        {value !== null && failure === null && (
          <div class="stack">
            <p>
              <b>
                {value.member}: {value.awarded ? counted(value.tokens ?? 0, 'token') : 'no award'}
              </b>{' '}
              {value.why}
            </p>
            <pre>{JSON.stringify(value.facts, null, 2)}</pre>
          </div>
        )}
      </div>
    </Panel>
  );
}
