import { absoluteWords, amountsWords, signed } from '../../../../words/amounts.js';
import { counted, grouped, roughly } from '../../../../words/spelling.js';
import type { PlanReply } from '../../../api/index.js';
import { RehearsalChip, Time } from '../../parts/marks.js';
import { Facts, Panel } from '../../parts/panel.js';
import { BatchLink, MemberLink } from '../../shell/address.js';
import { opFacts } from '../batch/batch-files.js';

/** What the file would do: the same preview as on the command line. */
export function PlanPreview({ plan }: { readonly plan: PlanReply }) {
  return (
    <div class="halves">
      <Panel title="What it would do" aside={<RehearsalChip on={plan.rehearsal} />}>
        <Facts
          facts={[
            ['Would send', <b class="n">{counted(plan.payable.orders, 'order')}</b>],
            ['Would', <b class="n">{payableWords(plan)}</b>],
            ['Rows', grouped(plan.rows)],
            ...opFacts(plan),
            ['Members', grouped(plan.members)],
            ['Duplicates', `${grouped(plan.duplicates)}${of(plan.duplicatesOf)}`],
            plan.looksPaid.length > 0 && ['Paid before', <PaidBefore batches={plan.looksPaid} />],
            ['Invalid', grouped(plan.invalid)],
            ['Takes', `${counted(plan.requests, 'request')}, ${roughly(plan.seconds * 1_000)}`],
          ]}
        />
      </Panel>
      <Panel title="Where">
        <Facts
          facts={[
            ['Realm', plan.realm],
            ['At', <span class="mono wrap">{plan.baseUrl}</span>],
            ['Currency', plan.currency ?? 'the default one'],
            ['Certainty', plan.certainty],
            [
              'These books',
              plan.books.paid === 0 ? (
                <b>new: they never paid this realm</b>
              ) : (
                <>
                  {counted(plan.books.paid, 'order')} paid in{' '}
                  {counted(plan.books.batches, 'batch', 'batches')}; the last began{' '}
                  <Time at={plan.books.lastAt} />
                </>
              ),
            ],
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

/** Of the rest of a batch that does several things only the sum is known. */
export function payableWords({ payable: { tokens, amounts } }: PlanReply): string {
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
