import { useEffect } from 'preact/hooks';
import { inCurrency } from '../../../../core/currencies.js';
import { amountsWords } from '../../../../words/amounts.js';
import { counted, grouped } from '../../../../words/spelling.js';
import type { ApprovalsReply } from '../../../api/index.js';
import { useFreshResource } from '../../live/resource.js';
import { useStore } from '../../live/store.js';
import { live, secondWaited } from '../../live/stream.js';
import { Time } from '../../parts/marks.js';
import { Empty, Panel, Pending, Table } from '../../parts/panel.js';
import { Link, placeOf } from '../../shell/address.js';
import { Page } from '../../shell/page.js';

/** The page of batches and retries that wait for an approval. */
export function ApprovalsPage() {
  const approvals = useFreshResource<ApprovalsReply>('/api/approvals');
  const { value, reload } = approvals;
  const { overview } = useStore(live);
  useEffect(reload, [secondWaited(overview).join()]);
  return (
    <Page title="Approvals" lead="What one person prepared or asked for, and another one has to approve.">
      <Pending of={approvals} rows={8} />
      {value !== null && (
        <>
          <Panel title="Batches" flush>
            <Batches batches={value.batches} />
          </Panel>
          {value.rules.length > 0 && (
            <Panel title="Rules" flush>
              <Rules rules={value.rules} />
            </Panel>
          )}
        </>
      )}
    </Page>
  );
}

function Batches({ batches }: Pick<ApprovalsReply, 'batches'>) {
  if (batches.length === 0) return <Empty title="No batch waits for an approval." />;
  return (
    <Table label="Batches that wait for an approval" heads={['File', 'Realm', 'Would', 'Prepared', 'You']}>
      {batches.map(
        ({
          batch,
          source,
          realm,
          currency,
          orders,
          tokens,
          retry,
          amounts,
          preparer,
          createdAt,
          begins,
          held,
          whyNot,
        }) => (
          <tr key={batch}>
            <td class="what">
              <Link to={placeOf('approval', batch)}>{source}</Link>
              <br />
              <span class="soft small mono">{batch}</span>
              {held !== null && (
                <>
                  <br />
                  <span class={`pill b-${held.state}`}>{held.state}</span> {held.message}
                </>
              )}
            </td>
            <td>
              {realm}
              {inCurrency(currency)}
            </td>
            <td class="name">
              {retry
                ? `retry ${counted(orders, 'dead letter')}: ${grouped(tokens)} tokens`
                : `${counted(orders, 'order')}: ${amounts === null ? `${grouped(tokens)} tokens` : amountsWords(amounts)}`}
            </td>
            <td class="name">
              {preparer === null ? 'without a token' : `by ${preparer}`}, <Time at={createdAt} />
              {begins !== null && (
                <>
                  <br />
                  begins {begins}
                </>
              )}
            </td>
            <td class="what">
              {whyNot ?? <Link to={placeOf('approval', batch)}>Look at it, then approve or refuse it</Link>}
            </td>
          </tr>
        ),
      )}
    </Table>
  );
}

function Rules({ rules }: Pick<ApprovalsReply, 'rules'>) {
  return (
    <Table label="Rules that wait for an approval" heads={['Rule', 'Realm', 'Asked for', 'You']}>
      {rules.map(({ rule, realm, asked: { who, at, why }, whyNot }) => (
        <tr key={`${realm} ${rule}`}>
          <td>
            <Link to="/rules">{rule}</Link>
          </td>
          <td>{realm}</td>
          <td class="name">
            by {who}, <Time at={at} />
            {why !== null && `: ${why}`}
          </td>
          <td class="what">{whyNot ?? <Link to="/rules">Look at its text, then approve it</Link>}</td>
        </tr>
      ))}
    </Table>
  );
}
