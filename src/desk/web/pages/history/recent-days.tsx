import { useEffect } from 'preact/hooks';
import { grouped } from '../../../../words/spelling.js';
import type { StatsReply } from '../../../api/index.js';
import { useResource } from '../../live/resource.js';
import { ColumnChart } from '../../parts/charts.js';
import { Panel } from '../../parts/panel.js';
import { Link, pathWith } from '../../shell/address.js';
import { ordersIn, seriesOf, stackedColumns } from './columns.js';

/** Yesterday does not change much. */
const RELOAD_MS = 60_000;
const VIEW = { measure: 'orders', currency: '', by: 'outcome' } as const;

/** The last fortnight of each realm that has sent anything in it, in small. */
export function RecentDays() {
  const { value, reload } = useResource<StatsReply>('/api/stats');
  useEffect(() => {
    const timer = setInterval(reload, RELOAD_MS);
    return () => clearInterval(timer);
  }, [reload]);
  const realms = (value?.realms ?? []).filter(({ whole }) => whole.outcomes.length > 0);
  if (realms.length === 0) return null;
  return (
    <Panel title="Last 14 days" aside={<Link to="/history">History</Link>}>
      <div class="charts">
        {realms.map((realm) => (
          <figure key={realm.realm}>
            <figcaption>
              <Link to={pathWith('/history', { realm: realm.realm })}>{realm.realm}</Link>
              <span class="legend n">
                {grouped(ordersIn(realm.whole, 'paid'))} paid, {grouped(ordersIn(realm.before, 'paid'))} in
                the 14 days before
              </span>
            </figcaption>
            <ColumnChart low {...stackedColumns(realm, seriesOf(realm, VIEW), 'orders', 'day')} />
          </figure>
        ))}
      </div>
    </Panel>
  );
}
