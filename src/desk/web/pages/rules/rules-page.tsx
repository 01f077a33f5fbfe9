import { useState } from 'preact/hooks';
import type { RuleApproveRequest, RuleRow, RulesReply, TaskReply } from '../../../api/index.js';
import { change } from '../../live/call.js';
import { useChange, useFreshResource } from '../../live/resource.js';
import { Confirm } from '../../parts/confirm.js';
import { Empty, Failure, Pending } from '../../parts/panel.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { go } from '../../shell/address.js';
import { Page } from '../../shell/page.js';
import { ExplainMember, RuleCard } from './rule-card.js';
import { type RuleAsked, STEPS } from './rule-steps.js';

/** The page of reward rules: next run, last run, and a plan before any payment. */
export function RulesPage() {
  const rules = useFreshResource<RulesReply>('/api/rules');
  const { value, reload } = rules;
  const [task, setTask] = useState<TaskReply | null>(null);
  const planning = useChange();
  const [asked, setAsked] = useState<RuleAsked | null>(null);
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
        <RuleCard key={`${rule.file} ${rule.rule}`} rule={rule} onPlan={() => plan(rule)} onAsk={setAsked} />
      ))}
      {value?.rules.some(({ last }) => last !== null) === true && <ExplainMember rules={value.rules} />}
      {asked !== null && <AskRule asked={asked} onDone={reload} onClose={() => setAsked(null)} />}
    </Page>
  );
}

type AskRuleProps = { readonly asked: RuleAsked; readonly onDone: () => void; readonly onClose: () => void };

function AskRule({ asked: { rule, step }, onDone, onClose }: AskRuleProps) {
  const { title, verb, reason, words } = STEPS[step];
  return (
    <Confirm
      title={title(rule.rule)}
      verb={verb}
      reason={reason}
      act={async (said) => {
        const approve: Partial<RuleApproveRequest> =
          rule.text === null ? {} : { hash: rule.text.hash, asked: rule.asked?.who ?? null };
        const isApproval = step === 'approve' || step === 'ask';
        const path = `/api/rules/${encodeURIComponent(rule.rule)}/${isApproval ? 'approve' : step}`;
        // The list reloads after a refusal too, and then shows the rule's present state.
        await change(path, isApproval ? { ...approve, ...said } : said).finally(onDone);
      }}
      onClose={onClose}
    >
      {step === 'approve' || step === 'ask' ? words(rule) : <p>{words(rule)}</p>}
    </Confirm>
  );
}
