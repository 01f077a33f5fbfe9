import { useState } from 'preact/hooks';
import type { ExplainReply, RuleRow } from '../../../api-types.js';
import { useResource } from '../../live/resource.js';
import { Failure, Loading } from '../../parts/notice.js';
import { Panel } from '../../parts/panel.js';
import { apiPath } from '../../shell/address.js';
import { counted } from '../../words/numbers.js';

/** Why a member got what they got, from the facts frozen at that run. */
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
          setAsked(apiPath(`/api/rule-runs/${encodeURIComponent(run)}/explain`, { member: member.trim() }));
        }}
      >
        <div class="field">
          <label for="explain-run">Run</label>
          <select id="explain-run" value={run} onChange={(event) => setRun(event.currentTarget.value)}>
            {runs.map((entry) => (
              <option key={entry.run} value={entry.run}>
                {entry.rule}: {entry.run}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="explain-member">Member</label>
          <input
            id="explain-member"
            type="text"
            required
            value={member}
            onInput={(event) => setMember(event.currentTarget.value)}
          />
        </div>
        <button type="submit">Explain</button>
      </form>
      <div aria-live="polite">
        {loading && asked !== null && value === null && <Loading rows={3} />}
        {failure !== null && <Failure failure={failure} />}
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
