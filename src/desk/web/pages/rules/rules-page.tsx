import { useState } from 'preact/hooks';
import type { RuleApproveRequest, RuleRow, RulesReply, TaskReply } from '../../../api/index.js';
import { change, useIsOperator } from '../../live/call.js';
import { useChange, useResource } from '../../live/resource.js';
import { Confirm } from '../../parts/confirm.js';
import { Empty, Failure, Pending, Scroll } from '../../parts/panel.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { go } from '../../shell/address.js';
import { Page } from '../../shell/page.js';
import { ExplainMember, RuleCard } from './rule-card.js';

/** Reward rules: when they run next, what they did last, and a plan before anything is paid. */
export function RulesPage() {
  const rules = useResource<RulesReply>('/api/rules');
  const { value, reload } = rules;
  const [task, setTask] = useState<TaskReply | null>(null);
  const planning = useChange();
  const [approving, setApproving] = useState<RuleRow | null>(null);
  const operator = useIsOperator();
  const plan = ({ rule }: RuleRow) =>
    planning.attempt(async () =>
      setTask(await change<TaskReply>(`/api/rules/${encodeURIComponent(rule)}/plan`)),
    );
  return (
    <Page title="Rules" lead="Awards by condition and schedule. A run makes a batch like any other.">
      <Pending of={rules} rows={10} />
      <Failure failure={planning.failure} />
      <TaskProgress
        started={task}
        onEnd={(ended) => {
          if (ended.result.plan !== null) go(`/rules/plans/${encodeURIComponent(ended.result.plan)}`);
        }}
        onClose={() => setTask(null)}
      />
      {value?.rules.length === 0 && (
        <section class="panel">
          <Empty title="No rules yet.">
            A rule is a YAML file in the jobs folder; <code>almoner rules check</code> reads it before it
            counts.
          </Empty>
        </section>
      )}
      {value?.rules.map((rule) => (
        <RuleCard
          key={`${rule.file} ${rule.rule}`}
          rule={rule}
          operator={operator}
          onPlan={() => plan(rule)}
          onApprove={() => setApproving(rule)}
        />
      ))}
      {value?.rules.some(({ last }) => last !== null) === true && <ExplainMember rules={value.rules} />}
      {approving !== null && (
        <Confirm
          title={`Let ${approving.rule} run by its schedule?`}
          verb="Approve"
          reason="may"
          act={async (said) => {
            const request: RuleApproveRequest = { hash: approving.text?.hash ?? '', ...said };
            // The list is read again also after a refusal: it shows the rule as it stands now.
            await change(`/api/rules/${encodeURIComponent(approving.rule)}/approve`, request).finally(reload);
          }}
          onClose={() => setApproving(null)}
        >
          <p>
            The rule is new or was changed. From now on it pays by itself at every scheduled time, within its
            limits, until it is changed again. The go is for exactly this text; look at its plan first.
          </p>
          <Scroll label="Text of the rule">
            <pre>{approving.text?.content}</pre>
          </Scroll>
        </Confirm>
      )}
    </Page>
  );
}
