import { RealmFilter } from '../parts/filters.js';
import { OrdersPager, OrdersTable, useOrders } from '../parts/orders.js';
import { Empty, Panel } from '../parts/panel.js';
import { filterBy, pathWith, useAddress } from '../shell/address.js';
import { Page } from '../shell/page.js';

/** The page of a member: every order that ever touched them. */
export function MemberPage({ member }: { readonly member: string }) {
  const { query } = useAddress();
  const found = useOrders(
    pathWith(`/api/members/${encodeURIComponent(member)}/history`, {
      realm: query.get('realm'),
      since: query.get('since'),
    }),
    query.get('cursor'),
    0,
  );
  return (
    <Page title={`Member ${member}`} lead="Every order that ever touched this member, as giver or receiver.">
      <Panel title="History" flush>
        <div class="filters">
          <RealmFilter />
          <div class="field">
            <label for="since">Since</label>
            <input
              id="since"
              type="date"
              value={query.get('since') ?? ''}
              onChange={(event) => filterBy('since', event.currentTarget.value)}
            />
          </div>
        </div>
        <OrdersTable
          label={`Orders of member ${member}`}
          found={found}
          mixed
          empty={
            <Empty title="Nothing touched this member.">
              At least not in this ledger. Ids are compared digit by digit; check that none is missing.
            </Empty>
          }
        />
        <OrdersPager found={found} />
      </Panel>
    </Page>
  );
}
