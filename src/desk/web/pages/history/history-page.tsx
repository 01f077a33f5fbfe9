import { SPANS, type Span } from '../../../../core/spans.js';
import type { Overview, StatsReply } from '../../../api/index.js';
import { useResource } from '../../live/resource.js';
import { useStore } from '../../live/store.js';
import { live } from '../../live/stream.js';
import { Choice } from '../../parts/fields.js';
import { DayFilter } from '../../parts/filters.js';
import { Empty, Loading, Panel, Pending } from '../../parts/panel.js';
import { filterBy, pathWith, useAddress } from '../../shell/address.js';
import { Page } from '../../shell/page.js';
import { currenciesOf, MEASURE_WORDS, MEASURES, type View } from './columns.js';
import { AnswersPanel, PaidPanel } from './history-charts.js';
import { ComparedPanel, TopPanels } from './history-tables.js';
import { StatementPanel } from './statement-panel.js';

/** The page of past payments. The address holds every choice, so that a view can be shared. */
export function HistoryPage() {
  const { overview } = useStore(live);
  const { query } = useAddress();
  const realms = realmsOf(overview);
  const realm = query.get('realm') ?? realms[0] ?? null;
  const by = SPANS.find((span) => span === query.get('by')) ?? 'day';
  const asked = { realm, by, since: query.get('since'), until: query.get('until') };
  return (
    <Page
      title="History"
      lead="What was paid, and how the realm answered, by days of UTC. An order counts on the day on which it was sent."
    >
      {overview === null ? (
        <Loading rows={14} />
      ) : realm === null ? (
        <Empty title="There is no realm yet." />
      ) : (
        <>
          <div class="filters">
            <Choose name="realm" label="Realm" value={realm} options={realms.map((name) => [name, name])} />
            <Choose name="by" label="By" value={by} usual="day" options={SPANS.map((span) => [span, span])} />
            <DayFilter name="since" label="From (UTC)" />
            <DayFilter name="until" label="To (UTC)" />
          </div>
          <Stats asked={asked} by={by} />
        </>
      )}
      <StatementPanel />
    </Page>
  );
}

/** Paying realms before rehearsals. */
function realmsOf(overview: Overview | null): string[] {
  const realms = [...(overview?.realms ?? [])].sort((a, b) => Number(a.rehearsal) - Number(b.rehearsal));
  return [...new Set(realms.map(({ realm }) => realm))];
}

type StatsProps = { readonly asked: Readonly<Record<string, string | null>>; readonly by: Span };

function Stats({ asked, by }: StatsProps) {
  const stats = useResource<StatsReply>(pathWith('/api/stats', asked));
  const { query } = useAddress();
  const realm = stats.value?.realms[0];
  if (stats.value === null || stats.failure !== null) return <Pending of={stats} rows={12} />;
  if (realm === undefined) return <Empty title="Nothing was sent to this realm." />;
  const currencies = currenciesOf(realm);
  const chosen = query.get('currency');
  const view: View = {
    measure: MEASURES.find((one) => one === query.get('show')) ?? 'orders',
    currency: chosen ?? currencies[0] ?? '',
    by: query.get('stack') === 'rule' ? 'rule' : 'outcome',
  };
  return (
    <>
      <Panel
        title={`Paid, ${stats.value.from} to ${stats.value.to}`}
        aside={<ViewFilters view={view} currencies={currencies} />}
      >
        <PaidPanel realm={realm} view={view} by={by} asked={asked} />
      </Panel>
      <ComparedPanel realm={realm} currencies={currencies} />
      <AnswersPanel realm={realm} by={by} asked={asked} />
      <TopPanels realm={realm} asked={asked} />
    </>
  );
}

function ViewFilters({ view, currencies }: { readonly view: View; readonly currencies: readonly string[] }) {
  return (
    <div class="filters">
      <Choose
        name="show"
        label="Show"
        value={view.measure}
        usual="orders"
        options={MEASURES.map((one) => [one, MEASURE_WORDS[one]])}
      />
      {currencies.length > 1 && view.measure !== 'orders' && (
        <Choose
          name="currency"
          label="Currency"
          value={view.currency}
          options={currencies.map((one) => [one, one === '' ? 'the realm’s own' : one])}
        />
      )}
      <Choose
        name="stack"
        label="Stacked by"
        value={view.by}
        usual="outcome"
        options={[
          ['outcome', 'outcome'],
          ['rule', 'rule'],
        ]}
      />
    </div>
  );
}

type ChooseProps = {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** The value that applies where the address names none. */
  readonly usual?: string;
  readonly options: readonly (readonly [value: string, words: string])[];
};

function Choose({ name, label, value, usual = '', options }: ChooseProps) {
  // A value from a shared link stays visible, even where the list no longer has it.
  const shown = options.some(([one]) => one === value) ? options : [...options, [value, value] as const];
  return (
    <Choice label={label} value={value} onChoice={(one) => filterBy(name, one === usual ? '' : one)}>
      {shown.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </Choice>
  );
}
