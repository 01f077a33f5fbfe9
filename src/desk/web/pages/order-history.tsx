import type { ComponentChildren } from 'preact';
import { duration, grouped } from '../../../words/spelling.js';
import type { OrderReply } from '../../api/index.js';
import { Time } from '../parts/marks.js';

type Detail = OrderReply['history'][number];

/** The history of an order, oldest first: attempts with their replies, balances, and decisions of people. */
export function OrderHistory({ history }: { readonly history: readonly Detail[] }) {
  return (
    <ol class="history">
      {history.map((detail, at) => (
        <li key={`${detail.at} ${at}`}>
          <Time at={detail.at} />
          <div>
            <Happened detail={detail} />
          </div>
        </li>
      ))}
    </ol>
  );
}

function Happened({ detail }: { readonly detail: Detail }): ComponentChildren {
  switch (detail.event) {
    case 'attempt':
      return (
        <>
          <p>
            <b>Attempt: {detail.kind}</b>{' '}
            {detail.status !== null && <span class="chip">{detail.status}</span>} {detail.message}
          </p>
          <p class="soft small wrap">
            {detail.code !== null && <code>{detail.code}</code>} key <code>{detail.key}</code>, {detail.phase}
            , after {duration(detail.latencyMs)}
            {detail.requestId !== null && (
              <>
                , request id <code>{detail.requestId}</code>
              </>
            )}
          </p>
          {detail.body !== '' && <pre>{detail.body}</pre>}
        </>
      );
    case 'orphaned':
      return (
        <>
          <p>
            <b>Left behind</b> {detail.message}
          </p>
          <p class="soft small wrap">
            <code>{detail.code}</code> session <code>{detail.session}</code>, key <code>{detail.key}</code>
          </p>
        </>
      );
    case 'balances':
      return (
        <p>
          <b>Balances read {WHEN[detail.when]}</b> member {known(detail.balances.member)}
          {detail.balances.recipient !== null && `, recipient ${known(detail.balances.recipient)}`}
        </p>
      );
    case 'concluded':
      return (
        <p>
          <b>Concluded: {detail.state}</b> by {detail.by}. {detail.message}{' '}
          {detail.code !== null && <code>{detail.code}</code>}
        </p>
      );
    case 'retried':
    case 'discarded':
      return (
        <p>
          <b>{detail.event === 'retried' ? 'Sent again' : 'Discarded'}</b> by {detail.who}
          {detail.why !== null && `: ${detail.why}`}
        </p>
      );
    default:
      // A newer server may send events that this page does not know. It shows them raw rather than leave them out.
      return <pre>{JSON.stringify(detail)}</pre>;
  }
}

const WHEN = { before: 'before sending', doubt: 'when the doubt arose', check: 'while checking' } as const;

function known(balance: string | null): string {
  return balance === null ? 'not known' : grouped(balance);
}
