import { useEffect, useState } from 'preact/hooks';
import { inCurrency } from '../../../../core/currencies.js';
import { amountsWords } from '../../../../words/amounts.js';
import { requirementWords } from '../../../../words/people.js';
import { counted } from '../../../../words/spelling.js';
import type { ApprovalsReply, LessRequired, RequirementReply } from '../../../api/index.js';
import { change } from '../../live/call.js';
import { useFreshResource } from '../../live/resource.js';
import { useStore } from '../../live/store.js';
import { live, secondWaited } from '../../live/stream.js';
import { Confirm } from '../../parts/confirm.js';
import { Button } from '../../parts/fields.js';
import { Time } from '../../parts/marks.js';
import { Empty, Notice, Panel, Pending, Table } from '../../parts/panel.js';
import { Link, placeOf } from '../../shell/address.js';
import { announce, Page } from '../../shell/page.js';

/** What waits for a second person. */
export function ApprovalsPage() {
  const approvals = useFreshResource<ApprovalsReply>('/api/approvals');
  const { value, reload } = approvals;
  const { overview } = useStore(live);
  useEffect(reload, [secondWaited(overview).join()]);
  return (
    <Page title="Approvals" lead="What one person prepared and another has to say go for.">
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
          {value.requirements.map((one) => (
            <Requirement key={one.realm} less={one} onDone={reload} />
          ))}
        </>
      )}
    </Page>
  );
}

function Batches({ batches }: Pick<ApprovalsReply, 'batches'>) {
  if (batches.length === 0) return <Empty title="No batch waits for a second person." />;
  return (
    <Table
      label="Batches that wait for a second person"
      heads={['File', 'Realm', 'Would', 'Prepared', 'You']}
    >
      {batches.map(
        ({
          batch,
          source,
          realm,
          currency,
          orders,
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
                ? `retry ${counted(orders, 'dead letter')}`
                : `${counted(orders, 'order')}: ${amountsWords(amounts)}`}
            </td>
            <td class="name">
              by {preparer ?? 'nobody known'}, <Time at={createdAt} />
              {begins !== null && (
                <>
                  <br />
                  begins {begins}
                </>
              )}
            </td>
            <td class="what">
              {whyNot ?? (
                <Link to={placeOf('approval', batch)}>Look at it, then say go{!retry && ' or refuse'}</Link>
              )}
            </td>
          </tr>
        ),
      )}
    </Table>
  );
}

function Rules({ rules }: Pick<ApprovalsReply, 'rules'>) {
  return (
    <Table label="Rules that wait for a second person" heads={['Rule', 'Realm', 'Go asked for', 'You']}>
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

type RequirementProps = { readonly less: LessRequired; readonly onDone: () => void };

/** A profile that says less than the books require changes nothing by itself: two people do. */
function Requirement({ less, onDone }: RequirementProps) {
  const { realm, now, wanted, asked, whyNot } = less;
  // As it was shown when the dialog was opened: neither its words nor its button change under somebody's hand.
  const [asking, setAsking] = useState<LessRequired | null>(null);
  return (
    <Panel
      title={`What realm ${realm} requires`}
      aside={whyNot === null && <Button name={verbOf(less)} onPress={() => setAsking(less)} />}
    >
      <p>
        Now {requirementWords(now)}. Its profile says that {requirementWords(wanted)}.
      </p>
      <p class="wrap">
        {asked === null ? (
          'Nobody has asked for that. It holds once two people want it, the second of them an approver.'
        ) : (
          <>
            <b>{asked.who}</b> asked for that, <Time at={asked.at} />. It holds once an approver other than{' '}
            {asked.who} agrees.
          </>
        )}{' '}
        {whyNot}
      </p>
      {asking !== null && (
        <RequireLess
          less={asking}
          asked={asked?.who ?? null}
          onDone={onDone}
          onClose={() => setAsking(null)}
        />
      )}
    </Panel>
  );
}

const verbOf = ({ asked }: LessRequired) => (asked === null ? 'Ask for it' : 'Agree');

type RequireLessProps = RequirementProps & { readonly asked: string | null; readonly onClose: () => void };

/** `asked`: who has asked by now. */
function RequireLess({ less, asked, onDone, onClose }: RequireLessProps) {
  const { realm, now, wanted } = less;
  const first = less.asked?.who ?? null;
  return (
    <Confirm
      title={`Let realm ${realm} require less?`}
      verb={verbOf(less)}
      danger={first !== null}
      reason="may"
      ready={asked === first}
      act={async (said) => {
        const path = `/api/realms/${encodeURIComponent(realm)}/requirement`;
        // The list is read again also after a refusal: it shows who has asked by now.
        const asks = change<RequirementReply>(path, { ...wanted, asked: first, ...said }).finally(onDone);
        announce(
          (await asks).changed ? 'Less is required from now on.' : 'Asked. Another person has to agree.',
        );
      }}
      onClose={onClose}
    >
      <p>
        {first === null ? 'Once an approver agrees, ' : `${first} asked for it. From then on `}
        {requirementWords(wanted)}. Now {requirementWords(now)}.
      </p>
      {asked !== first && (
        <Notice tone="warn">
          <b>
            {asked === null ? `${first} does not ask for it any more.` : `${asked} asked for it meanwhile.`}
          </b>{' '}
          Go back and look at it as it stands now.
        </Notice>
      )}
    </Confirm>
  );
}
