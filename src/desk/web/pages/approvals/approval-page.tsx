import { useEffect, useState } from 'preact/hooks';
import { totalWords } from '../../../../words/amounts.js';
import { noApprovalWords } from '../../../../words/people.js';
import { counted, grouped } from '../../../../words/spelling.js';
import type { ApprovalReply, ApprovedReply, BatchReply, Difference } from '../../../api/index.js';
import { change } from '../../live/call.js';
import { useFreshResource, useResource } from '../../live/resource.js';
import { Confirm } from '../../parts/confirm.js';
import { Button, TotalField, typedDigits } from '../../parts/fields.js';
import { RehearsalChip, Time } from '../../parts/marks.js';
import { Facts, Notice, Panel, Pending, Prose, Table } from '../../parts/panel.js';
import { BatchLink, go, Link, MemberLink, OrderLink, placeOf } from '../../shell/address.js';
import { announce, Page } from '../../shell/page.js';
import { sealFacts } from '../batch/batch-files.js';
import { doesFacts, payableWords, whenFacts, whereFacts } from '../import/plan-preview.js';

const RETRY_WAITS = 'A retry of its dead letters waits for an approval. ';

/**
 * A batch, or a retry of its dead letters, as the approver sees it: the plan, the first person, and what is new in
 * it.
 */
export function ApprovalPage({ batch }: { readonly batch: string }) {
  const shown = useResource<ApprovalReply>(`/api/approvals/${encodeURIComponent(batch)}`);
  const { value, failure, reload } = shown;
  // The comparison is costly to read and is read once. The batch's state is cheap and is polled.
  const { value: now } = useFreshResource<BatchReply>(`/api/batches/${encodeURIComponent(batch)}`);
  const waits = now === null || now.gate?.closed === 'approval';
  const standing = JSON.stringify([now?.summary.state, now?.gate]);
  useEffect(() => {
    const isOther = value !== null && standing !== JSON.stringify([value.summary.state, value.gate]);
    if (now !== null && waits && isOther) reload();
  }, [standing]);
  const [asking, setAsking] = useState<'approve' | 'refuse' | null>(null);
  const Asked = asking === 'approve' ? Approve : Refuse;
  return (
    <Page
      title={value?.summary.source ?? `Batch ${batch}`}
      rehearsal={value?.summary.rehearsal ?? false}
      lead={
        <>
          {waits && failure === null && (value?.retry != null ? RETRY_WAITS : 'Waits for an approval. ')}
          <BatchLink batch={value?.summary.batch ?? batch} />
        </>
      }
      actions={
        value?.whyNot === null &&
        waits && (
          <>
            <Button name="Approve" look="primary" onPress={() => setAsking('approve')} />
            <Button name="Refuse" look="danger-quiet" onPress={() => setAsking('refuse')} />
          </>
        )
      }
    >
      <Pending of={shown} rows={14} />
      {failure !== null && <Link to="/approvals">All that wait</Link>}
      {value !== null && failure === null && (
        <>
          <ApprovalNotices shown={value} now={now} waits={waits} />
          <Preview shown={value} />
          <Warnings warnings={value.warnings} />
          {value.retry !== null && <Letters letters={value.retry} total={value.payable.orders} />}
          <Compared difference={value.difference} />
          {asking !== null && waits && <Asked shown={value} onClose={() => setAsking(null)} />}
        </>
      )}
    </Page>
  );
}

type NoticesProps = {
  readonly shown: ApprovalReply;
  readonly now: BatchReply | null;
  readonly waits: boolean;
};

function ApprovalNotices({ shown: value, now, waits }: NoticesProps) {
  return (
    <>
      {!waits && now !== null && (
        <Notice tone="warn">
          <b>{noApprovalWords(now.summary.state, now.gate)}</b> It does not wait for an approval any more.
        </Notice>
      )}
      {waits && value.whyNot !== null && (
        <Notice tone="warn">
          <b>{value.whyNot}</b> {mayWords(value.gate.mayApprove)}
        </Notice>
      )}
      {value.isOutdated && (
        <Notice tone="warn">
          <b>These dead letters are others than those that were asked for.</b> The retry has to be asked for
          again.
        </Notice>
      )}
    </>
  );
}

/** Names the people who can approve. */
export function mayWords(names: readonly string[]): string {
  return names.length === 0
    ? 'No token has the role approver, other than of the person who asks: an admin makes one.'
    : `${names.join(' or ')} may approve it.`;
}

function Preview({ shown }: { readonly shown: ApprovalReply }) {
  const { summary, manifest, gate } = shown;
  return (
    <div class="halves">
      <Panel title="What it would do" aside={<RehearsalChip on={summary.rehearsal} />}>
        <Facts facts={doesFacts({ ...shown, ...manifest, rows: summary.rows })} />
      </Panel>
      <Panel title="Where, and by whom">
        <Facts
          facts={[
            ...whereFacts({ ...shown, ...manifest, realm: summary.realm }),
            ['File', summary.source],
            shown.columns !== null && ['Columns', shown.columns],
            [
              shown.retry === null ? 'Prepared' : 'Asked for',
              <>
                {gate.preparer === null ? (
                  'without a token'
                ) : (
                  <>
                    by <b>{gate.preparer}</b>
                  </>
                )}
                {shown.retry === null && (
                  <>
                    , <Time at={summary.createdAt} />
                  </>
                )}
                {shown.why !== null && `: ${shown.why}`}
              </>,
            ],
            manifest.again !== null && ['Again', manifest.again],
            ...whenFacts({ ...shown, begins: gate.begins }),
            manifest.inOrder && ['Order', 'strictly in file order'],
            ...sealFacts(manifest),
          ]}
        />
      </Panel>
    </div>
  );
}

function Warnings({ warnings: { count, first } }: Pick<ApprovalReply, 'warnings'>) {
  if (count === 0) return null;
  return (
    <Notice tone="warn">
      <b>The preparer was shown {counted(count, 'warning')}:</b>
      <ul class="bullets">
        {first.map((one) => (
          <li key={one}>{one}</li>
        ))}
        {count > first.length && <li>and {counted(count - first.length, 'other')}</li>}
      </ul>
    </Notice>
  );
}

type LettersProps = { readonly letters: NonNullable<ApprovalReply['retry']>; readonly total: number };

function Letters({ letters, total }: LettersProps) {
  return (
    <Panel title="Dead letters to be retried" flush>
      <Table
        label="Dead letters to be retried"
        heads={['Order', 'Does', 'Tokens', 'Member', 'State', 'Attempts']}
      >
        {letters.map(({ order, op, tokens, member, state, class: why, attempts }) => (
          <tr key={order}>
            <td class="what">
              <OrderLink order={order} />
            </td>
            <td>{op}</td>
            <td class="fits">{grouped(tokens ?? 0)}</td>
            <td class="what">{member !== null && <MemberLink member={member} />}</td>
            <td class="what">
              {state}
              {why !== null && `, ${why}`}
            </td>
            <td class="fits">{attempts}</td>
          </tr>
        ))}
        {total > letters.length && (
          <tr>
            <td colSpan={6}>and {counted(total - letters.length, 'other')}</td>
          </tr>
        )}
      </Table>
    </Panel>
  );
}

const SIDES = [
  ['added', 'new'],
  ['changed', 'other amount'],
  ['gone', 'not here any more'],
] as const satisfies readonly (readonly [keyof Difference, string])[];

function Compared({ difference }: Pick<ApprovalReply, 'difference'>) {
  if (difference === null || difference === 'too-many')
    return (
      <Panel title="Compared with the last file">
        <p>
          {difference === null
            ? 'No earlier batch has the same columns.'
            : 'Too many rows to be held beside the last file with the same columns.'}
        </p>
      </Panel>
    );
  return (
    <Panel title="Compared with the last file" flush>
      <div class="panel-body">
        <p>
          With <b>{difference.source}</b> (<BatchLink batch={difference.batch} />,{' '}
          <Time at={difference.createdAt} />
          ), the last one with the same columns:{' '}
          <span class="n">
            {counted(difference.same, 'order')} alike,{' '}
            {SIDES.map(([side, words]) => `${grouped(difference[side].orders)} ${words}`).join(', ')}.
          </span>
        </p>
      </div>
      {SIDES.some(([side]) => difference[side].orders > 0) && (
        <Table label="What is different" heads={['What', 'Does', 'Tokens', 'Member']}>
          {SIDES.flatMap(([side, words]) => [
            ...difference[side].examples.map(({ op, member, recipient, before, now }, at) => (
              <tr key={`${side} ${at}`}>
                <td>{words}</td>
                <td>{op}</td>
                <td class="fits">{beforeAndNow(before, now)}</td>
                <td class="what">
                  <MemberLink member={member} />
                  {recipient !== null && (
                    <>
                      {' to '}
                      <MemberLink member={recipient} />
                    </>
                  )}
                </td>
              </tr>
            )),
            ...more(side, difference[side], words),
          ])}
        </Table>
      )}
    </Panel>
  );
}

function beforeAndNow(before: number | null, now: number | null): string {
  if (before === null) return grouped(now ?? 0);
  return `${grouped(before)} before${now === null ? '' : `, ${grouped(now)} now`}`;
}

function more(key: string, { orders, examples }: Difference['added'], words: string) {
  if (orders <= examples.length) return [];
  return [
    <tr key={key}>
      <td>{words}</td>
      <td colSpan={3}>and {counted(orders - examples.length, 'other')}</td>
    </tr>,
  ];
}

type AskProps = { readonly shown: ApprovalReply; readonly onClose: () => void };

/** Approves after the person types the total, as the first person did. Typing it makes them read it. */
function Approve({ shown: { summary, hash, retry, payable, after }, onClose }: AskProps) {
  const [typed, setTyped] = useState('');
  const act = async () => {
    const path = `/api/approvals/${encodeURIComponent(summary.batch)}`;
    await change<ApprovedReply>(path, { hash, tokens: payable.tokens });
    announce('Approved.');
    go(placeOf('batch', summary.batch));
  };
  return (
    <Confirm
      title={`Approve ${retry === null ? summary.source : `a retry of ${summary.source}`}?`}
      verb="Approve"
      reason="none"
      ready={typedDigits(typed) === payable.tokens}
      act={act}
      onClose={onClose}
    >
      <p class="n">
        {retry === null ? 'This sends' : 'This allows to retry once'}{' '}
        <b>{counted(payable.orders, retry === null ? 'order' : 'dead letter')}</b>{' '}
        {retry === null ? 'to' : 'in'} realm <b>{summary.realm}</b>: <b>{payableWords({ payable })}</b>. The
        total is <b>{grouped(payable.tokens)}</b>
        {payable.amounts !== null && `, ${totalWords(payable.amounts)}`}.
      </p>
      <p>
        <Prose text={after} />
      </p>
      <TotalField typed={typed} onText={setTyped} />
    </Confirm>
  );
}

function Refuse({ shown: { summary, hash, retry }, onClose }: AskProps) {
  return (
    <Confirm
      title={`Refuse ${retry === null ? summary.source : `the retry of ${summary.source}`}?`}
      verb="Refuse"
      danger
      reason="must"
      act={async (said) => {
        await change<BatchReply>(`/api/approvals/${encodeURIComponent(summary.batch)}/refuse`, {
          hash,
          ...said,
        });
        announce('Refused.');
        go(placeOf('batch', summary.batch));
      }}
      onClose={onClose}
    >
      <p>
        {retry === null
          ? 'The batch is cancelled: nothing of it is sent, and its references are free again.'
          : 'Its dead letters stay dead.'}
      </p>
    </Confirm>
  );
}
