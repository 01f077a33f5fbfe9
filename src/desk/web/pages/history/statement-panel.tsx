import { useId } from 'preact/hooks';
import { signed } from '../../../../words/amounts.js';
import { counted, grouped } from '../../../../words/spelling.js';
import type { StatementReply } from '../../../api/index.js';
import { useResource } from '../../live/resource.js';
import { Empty, Panel, Pending } from '../../parts/panel.js';
import { filterBy, pathWith, useAddress } from '../../shell/address.js';
import { NumbersTable } from './numbers-table.js';

/** The monthly statement for accounting: every paying realm in each currency. */
export function StatementPanel() {
  const { query } = useAddress();
  const month = query.get('month') ?? new Date().toISOString().slice(0, 'YYYY-MM'.length);
  const statement = useResource<StatementReply>(pathWith('/api/statement', { month }));
  const { value } = statement;
  return (
    <Panel
      title={`Statement of ${month}`}
      anchor="statement"
      aside={
        <a class="button" href={pathWith('/api/statement.csv', { month })} download>
          As CSV
        </a>
      }
    >
      <div class="filters">
        <MonthFilter value={month} />
      </div>
      <Pending of={statement} rows={3} />
      {value !== null && (
        <>
          <p class="soft">
            {value.final
              ? 'Final: the month is over, and no order of it is open.'
              : 'Not final: the month is not over, or orders of it are open.'}{' '}
            {value.sending > 0 &&
              `${counted(value.sending, 'order is', 'orders are')} being sent, and in no line yet. `}
            Rehearsals are not in it.
          </p>
          {value.lines.length === 0 ? (
            <Empty title="Nothing was sent in this month." />
          ) : (
            <NumbersTable
              label={`Statement of ${value.month}`}
              heads={['Realm', 'Paid orders', 'Given', 'Taken', 'Moved', 'Net', 'Open orders']}
              rows={value.lines.map((line) => ({
                key: JSON.stringify([line.realm, line.baseUrl, line.realmId, line.currency]),
                cells: [
                  <>
                    {line.realm}
                    {line.currency !== null && ` in ${line.currency}`}{' '}
                    <span class="soft small wrap mono">{line.baseUrl}</span>
                  </>,
                  grouped(line.paid),
                  grouped(line.tokens.credit),
                  grouped(line.tokens.debit),
                  grouped(line.tokens.transfer),
                  signed(line.net),
                  grouped(line.open),
                ],
              }))}
            />
          )}
        </>
      )}
    </Panel>
  );
}

function MonthFilter({ value }: { readonly value: string }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>Month (UTC)</label>
      <input
        id={id}
        type="month"
        value={value}
        onChange={(event) => filterBy('month', event.currentTarget.value)}
      />
    </div>
  );
}
