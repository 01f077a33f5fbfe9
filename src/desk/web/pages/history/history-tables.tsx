import type { Op } from '../../../../core/order.js';
import { signed } from '../../../../words/amounts.js';
import { grouped, percent } from '../../../../words/spelling.js';
import { Empty, Panel } from '../../parts/panel.js';
import {
  NO_REASON,
  OTHERS,
  opsOf,
  ordersIn,
  paidTokens,
  ruleWords,
  shareWords,
  timeWords,
} from './columns.js';
import { type Asked, csvOf, type Realm } from './history-charts.js';
import { NumbersTable } from './numbers-table.js';

const DONE: Readonly<Record<Op, string>> = { credit: 'given', debit: 'taken', transfer: 'moved' };

type Compared = { readonly name: string; readonly of: (one: Realm['whole']) => bigint };

/** The chosen days beside the same number of days before them. */
export function ComparedPanel({
  realm,
  currencies,
}: {
  readonly realm: Realm;
  readonly currencies: readonly string[];
}) {
  const { whole, before } = realm;
  const counts: Compared[] = [
    { name: 'Paid orders', of: (one) => BigInt(ordersIn(one, 'paid')) },
    ...currencies.flatMap((currency) =>
      opsOf(realm).map((op) => ({
        name: `Tokens ${DONE[op]}${currency === '' ? '' : ` (${currency})`}`,
        of: (one: Realm['whole']) => paidTokens(one, op, currency),
      })),
    ),
    { name: 'Not paid', of: (one) => BigInt(ordersIn(one, 'refused', 'exhausted')) },
    { name: 'Unknown or in doubt', of: (one) => BigInt(ordersIn(one, 'unknown', 'doubt')) },
    { name: 'Requests', of: (one) => BigInt(one.requests) },
    { name: '429s', of: (one) => BigInt(one.rateLimited) },
  ];
  const figures = [
    { name: 'Success', of: (one: Realm['whole']) => shareWords(one.success) },
    { name: 'Half of the answers within', of: (one: Realm['whole']) => timeWords(one.p50Ms) },
    { name: '95 % of the answers within', of: (one: Realm['whole']) => timeWords(one.p95Ms) },
    { name: 'Of the allowed rate', of: (one: Realm['whole']) => shareWords(one.share) },
  ];
  return (
    <Panel title="Beside the days before" flush>
      <NumbersTable
        label="These days beside as many before"
        heads={['What', `${whole.from} to ${whole.to}`, `${before.from} to ${before.to}`, 'Change']}
        rows={[
          ...counts.map(({ name, of }) => ({
            key: name,
            cells: [
              name,
              grouped(of(whole)),
              grouped(of(before)),
              changeWords(of(whole), of(before)),
            ] as const,
          })),
          ...figures.map(({ name, of }) => ({
            key: name,
            cells: [name, of(whole), of(before), ''] as const,
          })),
        ]}
      />
    </Panel>
  );
}

function changeWords(now: bigint, before: bigint): string {
  const change = now - before;
  if (before <= 0n || change === 0n) return signed(change);
  const size = Number(change < 0n ? -change : change);
  return `${signed(change)} (${percent(size, Number(before))})`;
}

/** The rules and reasons that paid most. */
export function TopPanels({ realm, asked }: { readonly realm: Realm; readonly asked: Asked }) {
  const { rules, reasons } = realm.whole;
  return (
    <div class="halves">
      <TopPanel title="Top rules" name="Rule" labels={rules} words={ruleWords} csv={csvOf(asked, 'rules')} />
      <TopPanel
        title="Top reasons"
        name="Reason"
        labels={reasons}
        words={(label) => (label === null ? OTHERS : label === '' ? NO_REASON : label)}
        csv={csvOf(asked, 'reasons')}
      />
    </div>
  );
}

type TopProps = {
  readonly title: string;
  readonly name: string;
  readonly labels: Realm['whole']['rules'];
  readonly words: (label: string | null) => string;
  readonly csv: string;
};

function TopPanel({ title, name, labels, words, csv }: TopProps) {
  return (
    <Panel
      title={title}
      flush
      aside={
        <a href={csv} download>
          As CSV
        </a>
      }
    >
      {labels.length === 0 ? (
        <Empty title="Nothing ended in these days." />
      ) : (
        <NumbersTable
          label={title}
          heads={[name, 'Paid', 'Not paid', 'Given', 'Taken', 'Moved']}
          rows={labels.map(({ label, currency, paid, unpaid, tokens }) => ({
            key: JSON.stringify([label, currency]),
            cells: [
              currency === null ? words(label) : `${words(label)} (${currency})`,
              grouped(paid),
              grouped(unpaid),
              grouped(tokens.credit),
              grouped(tokens.debit),
              grouped(tokens.transfer),
            ],
          }))}
        />
      )}
    </Panel>
  );
}
