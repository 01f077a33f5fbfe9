import { useState } from 'preact/hooks';
import type { RuleApproveRequest, RuleRow, RulesReply, TaskReply } from '../../../api/index.js';
import { asFailure, type CallFailed, change } from '../../live/call.js';
import { useResource } from '../../live/resource.js';
import { mayChange, session } from '../../live/session.js';
import { useStore } from '../../live/store.js';
import { Confirm } from '../../parts/confirm.js';
import { Empty, Failure, Loading } from '../../parts/notice.js';
import { Scroll } from '../../parts/panel.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { go } from '../../shell/address.js';
import { Page } from '../../shell/page.js';
import { ExplainMember, RuleCard } from './rule-card.js';

/** Reward rules: when they run next, what they did last, and a plan before anything is paid. */
export function RulesPage() {
  const { value, failure, reload } = useResource<RulesReply>('/api/rules');
  const [task, setTask] = useState<TaskReply | null>(null);
  const [refused, setRefused] = useState<CallFailed | null>(null);
  const [approving, setApproving] = useState<RuleRow | null>(null);
  const operator = mayChange(useStore(session));
  const plan = async (rule: RuleRow) => {
    setRefused(null);
    try {
      setTask(await change<TaskReply>(`/api/rules/${encodeURIComponent(rule.rule)}/plan`, {}));
    } catch (error) {
      setRefused(asFailure(error));
    }
  };
  return (
    <Page title="Rules" lead="Awards by condition and schedule. A run makes a batch like any other.">
      {failure !== null && <Failure failure={failure} onRetry={reload} />}
      {refused !== null && <Failure failure={refused} />}
      {task !== null && (
        <TaskProgress
          key={task.task}
          started={task}
          onEnd={(ended) => {
            if (ended.result.plan !== null) go(`/rules/plans/${encodeURIComponent(ended.result.plan)}`);
          }}
          onClose={() => setTask(null)}
        />
      )}
      {value === null && failure === null && <Loading rows={10} />}
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
          act={async (reason) => {
            const request: RuleApproveRequest = {
              hash: approving.text?.hash ?? '',
              ...(reason === '' ? {} : { reason }),
            };
            // Also where it was refused: the list then shows the rule as it stands now.
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
