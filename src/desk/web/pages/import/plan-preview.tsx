import { absoluteWords, amountsWords, signed } from '../../../../words/amounts.js';
import { counted, grouped, roughly } from '../../../../words/spelling.js';
import type { PlanReply } from '../../../api/index.js';
import { RehearsalChip, Time } from '../../parts/marks.js';
import { type Fact, Facts, Panel } from '../../parts/panel.js';
import { BatchLink, MemberLink } from '../../shell/address.js';
import { opFacts } from '../batch/batch-files.js';

/** The preview of a file, the same as on the command line. */
export function PlanPreview({ plan }: { readonly plan: PlanReply }) {
  return (
    <div class="halves">
      <Panel title="What it would do" aside={<RehearsalChip on={plan.rehearsal} />}>
        <Facts
          facts={[
            ...doesFacts(plan),
            plan.fileSha256 !== null && [
              'SHA-256 of the file',
              <span class="mono wrap">{plan.fileSha256}</span>,
            ],
            plan.looksPaid.length > 0 && ['Paid before', <PaidBefore batches={plan.looksPaid} />],
          ]}
        />
      </Panel>
      <Panel title="Where">
        <Facts
          facts={[
            ...whereFacts(plan),
            ...whenFacts(plan),
            plan.dayLeft !== null && ['Left today', `${grouped(plan.dayLeft)} tokens`],
          ]}
        />
        {plan.netEffects.length > 0 && (
          <>
            <h3 class="sub">Members in several rows</h3>
            <ul class="plain">
              {plan.netEffects.slice(0, 8).map(({ member, rows, net }) => (
                <li key={member}>
                  <MemberLink member={member} /> <span class="soft n">{counted(rows, 'row')}, net</span>{' '}
                  <span class="n">{signed(net)}</span>
                </li>
              ))}
            </ul>
          </>
        )}
      </Panel>
    </div>
  );
}

type Does = Pick<
  PlanReply,
  'payable' | 'orders' | 'tokens' | 'rows' | 'members' | 'duplicates' | 'invalid' | 'requests' | 'seconds'
> &
  Partial<Pick<PlanReply, 'duplicatesOf'>>;

/** What the batch would send. The preparer and the approver see the same facts. */
export function doesFacts(does: Does): Fact[] {
  return [
    ['Would send', <b class="n">{counted(does.payable.orders, 'order')}</b>],
    ['Would', <b class="n">{payableWords(does)}</b>],
    ['Rows', grouped(does.rows)],
    ...opFacts(does),
    ['Members', grouped(does.members)],
    ['Duplicates', `${grouped(does.duplicates)}${of(does.duplicatesOf ?? [])}`],
    ['Invalid', grouped(does.invalid)],
    ['Takes', `${counted(does.requests, 'request')}, ${roughly(does.seconds * 1_000)}`],
  ];
}

type Where = Pick<PlanReply, 'realm' | 'baseUrl' | 'currency' | 'certainty' | 'books'>;

/**
 * The target of the payment: realm, address, currency, certainty and ledger. A ledger that never paid the realm is
 * marked as new.
 */
export function whereFacts({ realm, baseUrl, currency, certainty, books }: Where): Fact[] {
  return [
    ['Realm', realm],
    ['At', <span class="mono wrap">{baseUrl}</span>],
    ['Currency', currency ?? 'the default one'],
    ['Certainty', certainty],
    [
      'This ledger',
      books.paid === 0 ? (
        <b>new: it never paid this realm</b>
      ) : (
        <>
          {counted(books.paid, 'order')} paid in {counted(books.batches, 'batch', 'batches')}; the last began{' '}
          <Time at={books.lastAt} />
        </>
      ),
    ],
  ];
}

type When = Pick<PlanReply, 'begins' | 'ends' | 'quietHours' | 'timezone'>;

/** When the batch begins and ends at the realm's pace. */
export function whenFacts({ begins, ends, quietHours, timezone }: When): (Fact | false)[] {
  return [
    begins !== null && ['Begins', <b>{begins}</b>],
    ['Over by about', ends],
    quietHours.length > 0 && [
      'Quiet hours',
      `${quietHours.join(', ')} ${timezone}: nothing is sent for the first time then`,
    ],
  ];
}

/** Of a partly paid batch with several ops only the sum is known. */
export function payableWords({ payable: { tokens, amounts } }: Pick<PlanReply, 'payable'>): string {
  return amounts === null ? absoluteWords(tokens) : `${amountsWords(amounts)} tokens`;
}

function PaidBefore({ batches }: { readonly batches: PlanReply['looksPaid'] }) {
  return (
    <>
      {batches.map(({ batch, lines }) => (
        <div key={batch}>
          {lines} in <BatchLink batch={batch} />
        </div>
      ))}
    </>
  );
}

function of(batches: readonly string[]): string {
  return batches.length === 0 ? '' : ` (of ${batches.slice(0, 3).join(', ')})`;
}
