import type { ComponentChildren } from 'preact';
import type { Person } from '../../../../core/people.js';
import { whyNotSecond } from '../../../../words/people.js';
import { counted } from '../../../../words/spelling.js';
import type { RuleRow } from '../../../api/index.js';
import { Time } from '../../parts/marks.js';
import { Scroll, Table } from '../../parts/panel.js';

/** The steps on a rule's schedule. The page asks for a confirmation before each. */
type Step = {
  readonly name: string;
  readonly title: (rule: string) => string;
  readonly verb: string;
  readonly reason: 'must' | 'may';
  readonly words: (rule: RuleRow) => ComponentChildren;
};

/** The words of each step. The text before an approval shows everything that the approval covers. */
export const STEPS = {
  ask: {
    name: 'Ask for approval',
    title: (rule) => `Ask for the approval of ${rule}?`,
    verb: 'Ask for it',
    reason: 'may',
    words: (rule) => (
      <>
        <p>
          <b>A second person, an approver, has to approve it:</b> until then it does not run.
        </p>
        <BeforeApproval rule={rule} />
      </>
    ),
  },
  approve: {
    name: 'Approve',
    title: (rule) => `Let ${rule} run by its schedule?`,
    verb: 'Approve',
    reason: 'may',
    words: (rule) => (
      <>
        {rule.asked !== null && (
          <p>
            <b>{rule.asked.who}</b> asked for it, <Time at={rule.asked.at} />. You are the second person.
          </p>
        )}
        <BeforeApproval rule={rule} />
      </>
    ),
  },
  pause: {
    name: 'Pause',
    title: (rule) => `Pause the schedule of ${rule}?`,
    verb: 'Pause',
    reason: 'must',
    words: () => 'Its times pass without a run until it is resumed. An existing batch continues.',
  },
  resume: {
    name: 'Resume',
    title: (rule) => `Resume the schedule of ${rule}?`,
    verb: 'Resume',
    reason: 'may',
    words: () => 'A pause or a skip ends. almoner does not make up times that passed meanwhile.',
  },
  skip: {
    name: 'Skip next run',
    title: (rule) => `Skip the next run of ${rule}?`,
    verb: 'Skip it',
    reason: 'may',
    words: ({ standing }) => (
      <>
        The time of <Time at={standing?.nextAt ?? null} /> passes without a run; the one after it runs.
      </>
    ),
  },
  revoke: {
    name: 'Withdraw approval',
    title: (rule) => `Withdraw the approval of ${rule}?`,
    verb: 'Withdraw',
    reason: 'may',
    words: () => 'It does not run by itself until it is approved again. An existing batch continues.',
  },
} as const satisfies Readonly<Record<string, Step>>;

export type RuleStepName = keyof typeof STEPS;
export type RuleAsked = { readonly rule: RuleRow; readonly step: RuleStepName };

/** The steps that this person may take now. */
export function stepsOf(rule: RuleRow, me: Person): RuleStepName[] {
  const { approved, standing } = rule;
  const approval = approvalSteps(rule, me);
  if (!me.roles.includes('operator') || standing === null) return approval;
  if (approved === null) return rule.asked === null ? approval : [...approval, 'revoke'];
  const { paused, skip } = standing;
  const held: RuleStepName[] = paused === null && skip === null ? ['skip'] : ['resume'];
  return [...approval, ...(paused === null ? (['pause'] as const) : []), ...held, 'revoke'];
}

function approvalSteps({ text, needsSecond, asked }: RuleRow, me: Person): RuleStepName[] {
  const isOperator = me.roles.includes('operator');
  if (text === null) return [];
  if (!needsSecond) return isOperator ? ['approve'] : [];
  if (asked === null) return isOperator || me.roles.includes('approver') ? ['ask'] : [];
  return whyNotSecond(me, asked.who, 'asked for') === null ? ['approve'] : [];
}

/** Everything that the approval covers. */
function BeforeApproval({ rule: { rule, words, reason, nextRuns, text } }: { readonly rule: RuleRow }) {
  const difference = text?.difference ?? null;
  return (
    <>
      <p>
        Once approved, it runs by itself at every scheduled time, within its limits, until it is changed or
        paused or its approval is withdrawn. The approval covers exactly this text and these members.
      </p>
      <ul class="bullets">
        {words.map((line) => (
          <li key={line}>{line}</li>
        ))}
        {reason !== null && <li>Reason beside every order: {reason}</li>}
      </ul>
      {text !== null && <Members rule={rule} members={text.members} />}
      <h3>Next ten runs</h3>
      <Table label="Next ten runs" heads={['Time', 'Period']}>
        {nextRuns.map(({ at, period, words: spelled }) => (
          <tr key={at}>
            <td class="fits">{spelled}</td>
            <td>{period}</td>
          </tr>
        ))}
      </Table>
      <h3>
        {difference === null ? 'Text of the rule' : 'Difference from the text that was approved before'}
      </h3>
      {difference === null ? (
        <Scroll label="Text of the rule">
          <p class="small soft">No text of this rule was approved before.</p>
          <pre>{text?.content}</pre>
        </Scroll>
      ) : (
        <Scroll label="Difference to the approved text">
          {difference.every(({ mark }) => mark === ' ') && <p class="small soft">It is the same text.</p>}
          <pre class="difference">
            {difference.map(({ mark, text: line }, at) => (
              <span key={`${at} ${line}`} class={DIFFERENT[mark]}>
                {`${mark} ${line}\n`}
              </span>
            ))}
          </pre>
        </Scroll>
      )}
    </>
  );
}

type MembersProps = {
  readonly rule: string;
  readonly members: NonNullable<RuleRow['text']>['members'];
};

type Side = { readonly count: number; readonly first: readonly string[] };

function named({ count, first }: Side): string {
  return `${first.join(', ')}${count > first.length ? ` and ${counted(count - first.length, 'other')}` : ''}`;
}

/** The members who are paid, and who is new or gone since the list that was approved last. */
function Members({ rule, members: { count, first, changed } }: MembersProps) {
  return (
    <>
      <h3>Members</h3>
      <p class="wrap">
        {counted(count, 'member')}: {named({ count, first })}.{' '}
        <a href={`/api/rules/${encodeURIComponent(rule)}/members.csv`}>All of them as CSV</a>
      </p>
      {changed !== null && (
        <p class="wrap">
          Since the list that was approved last: {counted(changed.added.count, 'member')} new
          {changed.added.count > 0 && ` (${named(changed.added)})`}, {counted(changed.gone.count, 'member')}{' '}
          gone
          {changed.gone.count > 0 && ` (${named(changed.gone)})`}.
        </p>
      )}
    </>
  );
}

const DIFFERENT = { ' ': undefined, '-': 'gone', '+': 'new' } as const;
