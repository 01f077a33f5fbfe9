import { useState } from 'preact/hooks';
import { ruleWords } from '../../../../words/amounts.js';
import { counted, grouped } from '../../../../words/spelling.js';
import type { RulePlanPage as Plan, RuleRunRequest, TaskReply } from '../../../api/index.js';
import { change, useIsOperator } from '../../live/call.js';
import { useResource } from '../../live/resource.js';
import { useIsRehearsal } from '../../live/stream.js';
import { Confirm } from '../../parts/confirm.js';
import { Button, TotalField, typedDigits } from '../../parts/fields.js';
import { Time } from '../../parts/marks.js';
import { CursorPager } from '../../parts/pager.js';
import { Empty, Notice, Panel, Pending, Table } from '../../parts/panel.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { go, Link, MemberLink, pathWith, placeOf, useAddress } from '../../shell/address.js';
import { Page } from '../../shell/page.js';

/**
 * The page of a rule's plan: every award with its reason. Running it pays exactly this plan without reading again.
 */
export function RulePlanPage({ plan }: { readonly plan: string }) {
  const { query } = useAddress();
  const cursor = query.get('cursor');
  const page = useResource<Plan>(
    pathWith(`/api/rule-plans/${encodeURIComponent(plan)}`, { cursor, limit: '100' }),
  );
  const { value } = page;
  const [asking, setAsking] = useState(false);
  const [task, setTask] = useState<TaskReply | null>(null);
  const operator = useIsOperator();
  const isRehearsal = useIsRehearsal();
  return (
    <Page
      rehearsal={value !== null && isRehearsal(value.realm)}
      title={value === null ? 'Plan of a rule' : `Plan of ${value.rule}`}
      lead={<PlanLead plan={value} />}
      actions={
        operator &&
        value !== null &&
        value.awarded > 0 &&
        !value.edited &&
        task === null && <Button name="Run now" look="primary" onPress={() => setAsking(true)} />
      }
    >
      <Pending of={page} rows={10} />
      {value?.edited === true && task === null && (
        <Notice tone="warn">
          The rule was edited after this plan was made. Plan it again; this one can only be paid on the
          command line.
        </Notice>
      )}
      <TaskProgress
        started={task}
        onEnd={(ended) => {
          if (ended.result.batch !== null) go(placeOf('batch', ended.result.batch));
        }}
      />
      {value !== null && (
        <Panel
          title={`Would ${ruleWords(value.op, value.tokens, `${counted(value.awarded, 'member')} of ${grouped(value.members)}`)}`}
          flush
        >
          <Awards plan={value} />
          <CursorPager next={value.next} />
        </Panel>
      )}
      {asking && value !== null && (
        <RunNow plan={value} onStarted={setTask} onClose={() => setAsking(false)} />
      )}
    </Page>
  );
}

function PlanLead({ plan }: { readonly plan: Plan | null }) {
  return (
    <>
      <Link to="/rules">All rules</Link>
      {plan !== null && (
        <>
          {' '}
          · made <Time at={plan.at} /> for realm {plan.realm}
        </>
      )}
    </>
  );
}

type RunNowProps = {
  readonly plan: Plan;
  readonly onStarted: (task: TaskReply) => void;
  readonly onClose: () => void;
};

/** Each dialog asks for the total anew. */
function RunNow({ plan: value, onStarted, onClose }: RunNowProps) {
  const [typed, setTyped] = useState('');
  return (
    <Confirm
      title={`Run ${value.rule} now?`}
      verb={VERBS[value.op](counted(value.awarded, 'member'))}
      reason="may"
      ready={typedDigits(typed) === value.tokens}
      act={async (said) => {
        const { plan, awarded: members, tokens } = value;
        const request: RuleRunRequest = { plan, members, tokens, ...said };
        onStarted(await change<TaskReply>(`/api/rules/${encodeURIComponent(value.rule)}/run`, request));
      }}
      onClose={onClose}
    >
      <p class="n">
        This will <b>{ruleWords(value.op, value.tokens, counted(value.awarded, 'member'))}</b> in realm{' '}
        <b>{value.realm}</b>, exactly as planned here.
      </p>
      <TotalField typed={typed} onText={setTyped} />
    </Confirm>
  );
}

const VERBS = {
  credit: (members: string) => `Pay ${members}`,
  debit: (members: string) => `Take from ${members}`,
  transfer: (members: string) => `Move for ${members}`,
} as const;

function Awards({ plan }: { readonly plan: Plan }) {
  if (plan.awards.length === 0) return <Empty title="Nobody is in the audience." />;
  return (
    <Table label="Awards" heads={['Member', ['Tokens', 'n'], 'Why']}>
      {plan.awards.map((award) => (
        <tr key={award.member}>
          <td>
            <MemberLink member={award.member} />
          </td>
          <td class="n">{award.awarded ? grouped(award.tokens ?? 0) : <span class="soft">nothing</span>}</td>
          <td class="what">{award.why}</td>
        </tr>
      ))}
    </Table>
  );
}
