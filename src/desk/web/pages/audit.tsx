import { useEffect } from 'preact/hooks';
import { grouped } from '../../../words/spelling.js';
import type { AuditPage as Audit } from '../../api/index.js';
import { useResource } from '../live/resource.js';
import { Button } from '../parts/fields.js';
import { DayFilter, TextFilter } from '../parts/filters.js';
import { Time } from '../parts/marks.js';
import { CursorPager } from '../parts/pager.js';
import { Empty, Panel, Pending, Table } from '../parts/panel.js';
import { BatchLink, pathWith, useAddress } from '../shell/address.js';
import { Page } from '../shell/page.js';

/** The page of the audit: who changed what, when and why. */
export function AuditPage() {
  const { query } = useAddress();
  const filter = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]));
  const cursor = query.get('cursor');
  const audit = useResource<Audit>(pathWith('/api/audit', { ...filter, cursor, limit: '100' }));
  const { value } = audit;
  return (
    <Page title="Audit" lead="Every change made at this desk: who, when, what, why. Newest first.">
      <div class="filters">
        <TextFilter name="text" label="Search" placeholder="batch, file, reason…" />
        <TextFilter name="who" label="Who" placeholder="a name" />
        <DayFilter name="from" label="From (UTC)" />
        <DayFilter name="to" label="To (UTC)" />
      </div>
      <Pending of={audit} rows={12} />
      {value !== null && (
        <Panel
          title={cursor === null ? 'Newest' : 'Earlier'}
          flush
          aside={
            <>
              <a class="button" href={pathWith('/api/audit.csv', filter)} download="audit.csv">
                All of it as CSV
              </a>
              <Button name="Refresh" look="quiet" onPress={audit.reload} />
            </>
          }
        >
          <AuditTable
            entries={value.entries}
            label="Audit of the desk"
            whole={value.next === null}
            withBatch
          />
          <CursorPager next={value.next} />
        </Panel>
      )}
    </Page>
  );
}

const FILTERS = ['text', 'who', 'from', 'to'] as const;

export function BatchAudit({ batch, state }: { readonly batch: string; readonly state: string }) {
  const audit = useResource<Audit>(`/api/batches/${encodeURIComponent(batch)}/audit`);
  // A change of the batch's state adds an entry, so that the list reloads.
  useEffect(audit.reload, [state]);
  return (
    <Panel title="Who did what" flush>
      <Pending of={audit} rows={4} />
      {audit.value !== null && <AuditTable entries={audit.value.entries} label="Audit of this batch" />}
    </Panel>
  );
}

type AuditTableProps = {
  readonly entries: Audit['entries'];
  readonly label: string;
  readonly withBatch?: boolean;
  /** True where there is no further page. */
  readonly whole?: boolean;
};

function AuditTable({ entries, label, withBatch = false, whole = true }: AuditTableProps) {
  if (entries.length === 0)
    return <Empty title={whole ? 'Nothing of that kind was done.' : 'Nothing so far: go on with Next.'} />;
  const heads = ['When', 'Who', 'What', 'Why'];
  return (
    <Table
      label={label}
      css="wide"
      heads={withBatch ? [...heads, 'Batch', ['Orders', 'n'], ['Tokens', 'n']] : heads}
    >
      {entries.map((entry, at) => (
        <tr key={`${entry.at} ${at}`}>
          <td>
            <Time at={entry.at} />
          </td>
          <td class="name">{entry.who}</td>
          <td class="what">{entry.what}</td>
          <td class="what soft">{entry.why ?? ''}</td>
          {withBatch && (
            <>
              <td>{entry.batch !== null && <BatchLink batch={entry.batch} />}</td>
              <td class="n">{entry.orders === null ? '' : grouped(entry.orders)}</td>
              <td class="n">{entry.tokens === null ? '' : grouped(entry.tokens)}</td>
            </>
          )}
        </tr>
      ))}
    </Table>
  );
}
