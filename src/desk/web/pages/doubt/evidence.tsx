import { grouped } from '../../../../words/spelling.js';
import type { DoubtReply } from '../../../api/index.js';
import { Empty } from '../../parts/notice.js';
import { Panel, Scroll } from '../../parts/panel.js';
import { MemberLink } from '../../shell/link.js';

type EvidenceProps = {
  readonly reply: DoubtReply;
  readonly busy: boolean;
  /** Null for who may not have the realm asked. */
  readonly onAskRealm: (() => void) | null;
};

type Side = DoubtReply['sides'][number];

const ROWS: readonly (readonly [string, (side: Side) => string | null])[] = [
  ['Last seen before', (side) => side.lastSeen],
  ['Should be, if paid', (side) => side.ifPaid],
  ['Should be, if not paid', (side) => side.ifUnpaid],
  ['When the doubt arose', (side) => side.whenDoubtArose],
  ['Now', (side) => side.now],
];

/** The balances one under the other, digit by digit, so that equal ones are seen to be equal. */
export function Evidence({ reply, busy, onAskRealm }: EvidenceProps) {
  return (
    <Panel
      title="Evidence"
      flush
      aside={
        onAskRealm !== null && (
          <button type="button" disabled={busy} onClick={onAskRealm}>
            {busy ? 'Reading…' : 'Read the balance now'}
          </button>
        )
      }
    >
      {reply.sides.length === 0 ? (
        <Empty title="No balance was seen.">Read it now, or look upstream for the request.</Empty>
      ) : (
        <Scroll label="Balances">
          <table class="evidence">
            <thead>
              <tr>
                <th scope="col">Balance</th>
                {reply.sides.map((side) => (
                  <th key={side.role} scope="col" class="n">
                    {side.role} <MemberLink member={side.member} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {ROWS.map(([name, pick]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {reply.sides.map((side) => (
                    <td key={side.role} class="n">
                      <Balance value={pick(side)} none={name === 'Now' ? 'not read' : 'not known'} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row">Speaks for</th>
                {reply.sides.map((side) => (
                  <td key={side.role} class="n">
                    {speaksFor(side, reply.later.length)}
                  </td>
                ))}
              </tr>
            </tfoot>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

function Balance({ value, none }: { readonly value: string | null; readonly none: string }) {
  return value === null ? <span class="soft">{none}</span> : <span>{grouped(value)}</span>;
}

/** A hint, not a decision: somebody else may have moved the member meanwhile. */
function speaksFor(side: Side, later: number): string {
  const seen = side.now ?? side.whenDoubtArose;
  if (seen === null || side.ifPaid === null || side.ifUnpaid === null) return 'not enough known';
  if (later > 0 && side.now !== null) return 'blurred by later orders';
  if (seen === side.ifPaid) return 'paid';
  if (seen === side.ifUnpaid) return 'not paid';
  return 'neither: something else moved it';
}
