import type { DoubtReply } from '../../../api-types.js';
import { Empty } from '../../parts/notice.js';
import { Panel } from '../../parts/panel.js';
import { Scroll } from '../../parts/scroll.js';
import { MemberLink } from '../../shell/link.js';
import { grouped } from '../../words/numbers.js';

type EvidenceProps = {
  readonly reply: DoubtReply;
  readonly busy: boolean;
  readonly onAskRealm: () => void;
};

/** The balances that speak for one decision or the other, in one row per member. */
export function Evidence({ reply, busy, onAskRealm }: EvidenceProps) {
  return (
    <Panel
      title="Evidence"
      flush
      aside={
        <button type="button" disabled={busy} onClick={onAskRealm}>
          {busy ? 'Reading…' : 'Read the balance now'}
        </button>
      }
    >
      {reply.sides.length === 0 ? (
        <Empty title="No balance was seen." />
      ) : (
        <Scroll label="Balances">
          <table class="evidence">
            <thead>
              <tr>
                <th scope="col">Whose</th>
                <th scope="col" class="n">
                  Last seen before
                </th>
                <th scope="col" class="n">
                  If paid
                </th>
                <th scope="col" class="n">
                  If not paid
                </th>
                <th scope="col" class="n">
                  When the doubt arose
                </th>
                <th scope="col" class="n">
                  Now
                </th>
                <th scope="col">Speaks for</th>
              </tr>
            </thead>
            <tbody>
              {reply.sides.map((side) => (
                <tr key={side.role}>
                  <th scope="row">
                    {side.role} <MemberLink member={side.member} />
                  </th>
                  <Balance value={side.lastSeen} />
                  <Balance value={side.ifPaid} />
                  <Balance value={side.ifUnpaid} />
                  <Balance value={side.whenDoubtArose} />
                  <Balance value={side.now} none="not read" />
                  <td>
                    <b>{speaksFor(side, reply.later.length)}</b>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

function Balance({ value, none = 'not known' }: { readonly value: string | null; readonly none?: string }) {
  return <td class="n">{value === null ? <span class="soft">{none}</span> : grouped(value)}</td>;
}

/** A hint, not a decision: somebody else may have moved the member meanwhile. */
function speaksFor(side: DoubtReply['sides'][number], later: number): string {
  const seen = side.now ?? side.whenDoubtArose;
  if (seen === null || side.ifPaid === null || side.ifUnpaid === null) return 'not enough known';
  if (later > 0 && side.now !== null) return 'blurred by later orders';
  if (seen === side.ifPaid) return 'paid';
  if (seen === side.ifUnpaid) return 'not paid';
  return 'neither: something else moved it';
}
