import { useState } from 'preact/hooks';
import { counted, grouped } from '../../../../words/spelling.js';
import type { RulePlanPage as Plan, RuleRunRequest, TaskReply } from '../../../api/index.js';
import { change } from '../../live/call.js';
import { useResource } from '../../live/resource.js';
import { mayChange, session } from '../../live/session.js';
import { useStore } from '../../live/store.js';
import { useIsRehearsal } from '../../live/stream.js';
import { Confirm } from '../../parts/confirm.js';
import { Empty, Failure, Loading, Notice } from '../../parts/notice.js';
import { Panel, Scroll } from '../../parts/panel.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { Time } from '../../parts/time.js';
import { apiPath, go, useAddress, withQuery } from '../../shell/address.js';
import { Link, MemberLink } from '../../shell/link.js';
import { Page } from '../../shell/page.js';

/** Who would get what and why. Running it pays exactly this plan, without reading anybody again. */
export function RulePlanPage({ plan }: { readonly plan: string }) {
  const { query } = useAddress();
  const cursor = query.get('cursor');
  const { value, failure, reload } = useResource<Plan>(
    apiPath(`/api/rule-plans/${encodeURIComponent(plan)}`, { cursor, limit: '100' }),
  );
  const [asking, setAsking] = useState(false);
  const [task, setTask] = useState<TaskReply | null>(null);
  const operator = mayChange(useStore(session));
  const isRehearsal = useIsRehearsal();
  return (
    <Page
      rehearsal={value !== null && isRehearsal(value.realm)}
      title={value === null ? 'Plan of a rule' : `Plan of ${value.rule}`}
      lead={
        <>
          <Link to="/rules">All rules</Link>
          {value !== null && (
            <>
              {' '}
              · made <Time at={value.at} /> for realm {value.realm}
            </>
          )}
        </>
      }
      actions={
        operator &&
        value !== null &&
        value.awarded > 0 &&
        !value.edited &&
        task === null && (
          <button type="button" class="primary" onClick={() => setAsking(true)}>
            Run now
          </button>
        )
      }
    >
      {failure !== null && <Failure failure={failure} onRetry={reload} />}
      {value?.edited === true && task === null && (
        <Notice tone="warn">
          The rule was edited after this plan was made. Plan it again; this one can only be paid on the
          command line.
        </Notice>
      )}
      {task !== null && (
        <TaskProgress
          key={task.task}
          started={task}
          onEnd={(ended) => {
            if (ended.result.batch !== null) go(`/batches/${encodeURIComponent(ended.result.batch)}`);
          }}
        />
      )}
      {value === null ? (
        failure === null && <Loading rows={10} />
      ) : (
        <Panel
          title={`${counted(value.awarded, 'member')} of ${grouped(value.members)} would get ${grouped(value.tokens)} tokens`}
          flush
        >
          <Awards plan={value} />
          <div class="pager">
            <button type="button" disabled={cursor === null} onClick={() => history.back()}>
              Back
            </button>
            <button
              type="button"
              disabled={value.next === null}
              onClick={() => go(withQuery({ cursor: value.next }))}
            >
              Next
            </button>
          </div>
        </Panel>
      )}
      {asking && value !== null && (
        <Confirm
          title={`Run ${value.rule} now?`}
          verb={`Pay ${counted(value.awarded, 'member')}`}
          reason="may"
          act={async (reason) => {
            const request: RuleRunRequest = {
              plan: value.plan,
              members: value.awarded,
              tokens: value.tokens,
              ...(reason === '' ? {} : { reason }),
            };
            setTask(await change<TaskReply>(`/api/rules/${encodeURIComponent(value.rule)}/run`, request));
          }}
          onClose={() => setAsking(false)}
        >
          <p class="n">
            <b>{counted(value.awarded, 'member')}</b> get <b>{grouped(value.tokens)} tokens</b> in realm{' '}
            <b>{value.realm}</b>, exactly as planned here.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function Awards({ plan }: { readonly plan: Plan }) {
  if (plan.awards.length === 0) return <Empty title="Nobody is in the audience." />;
  return (
    <Scroll label="Awards">
      <table>
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col" class="n">
              Tokens
            </th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {plan.awards.map((award) => (
            <tr key={award.member}>
              <td>
                <MemberLink member={award.member} />
              </td>
              <td class="n">
                {award.awarded ? grouped(award.tokens ?? 0) : <span class="soft">nothing</span>}
              </td>
              <td class="what">{award.why}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
