import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { NO_SUMS, type OpSums, plus, sumOf } from '../../../../core/op-sums.js';
import { amountsWords } from '../../../../words/amounts.js';
import { counted, grouped } from '../../../../words/spelling.js';
import type { DoubtRow, DoubtSelection, TaskReply } from '../../../api/index.js';
import { useIsOperator } from '../../live/call.js';
import { useIsRehearsal, useUnsettledNews } from '../../live/stream.js';
import { Button } from '../../parts/fields.js';
import { RealmFilter, TextFilter } from '../../parts/filters.js';
import { RehearsalChip, Time } from '../../parts/marks.js';
import { type OrdersFound, OrdersPager, useOrders } from '../../parts/orders.js';
import { Empty, Failure, Loading, Notice, Panel, Table } from '../../parts/panel.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { Link, MemberLink, pathWith, placeOf, useAddress } from '../../shell/address.js';
import { Page } from '../../shell/page.js';
import { type Decision, ResolveDoubts } from './resolve-doubts.js';

/**
 * The page of all doubts with their evidence. A person decides them one by one, or together where the evidence is the
 * same.
 */
export function DoubtsPage() {
  const { query } = useAddress();
  const filter = { realm: query.get('realm'), batch: query.get('batch') };
  const path = pathWith('/api/doubts', filter);
  const found = useOrders<DoubtRow>(path, query.get('cursor'), useUnsettledNews());
  const choice = useChoice(path, found);
  const [asking, setAsking] = useState<Decision | null>(null);
  const [task, setTask] = useState<TaskReply | null>(null);
  const operator = useIsOperator();
  const isNone = choice.count === 0;
  const selection: DoubtSelection = choice.all
    ? Object.fromEntries(Object.entries(filter).filter(([, set]) => set !== null))
    : { orders: choice.orders };
  return (
    <Page
      title="Doubts"
      lead="almoner cannot prove whether these were applied. Nothing more is sent for them until a person decides."
      actions={
        operator && (
          <>
            <Button name="Chosen were paid" disabled={isNone} onPress={() => setAsking('paid')} />
            <Button name="Chosen were not paid" disabled={isNone} onPress={() => setAsking('unpaid')} />
          </>
        )
      }
    >
      <TaskProgress started={task} onEnd={choice.none} onClose={() => setTask(null)} />
      {choice.changed && (
        <Notice tone="warn">
          Other doubts match than when all were chosen, so none is chosen any more. Look again, then choose.
        </Notice>
      )}
      <Panel title={found.of === 0 ? 'Doubts' : counted(found.of, 'doubt')} flush>
        <div class="filters">
          <RealmFilter />
          <TextFilter name="batch" label="Batch" placeholder="batch id or prefix" />
          {operator && found.of > 0 && <Choosing choice={choice} found={found} />}
        </div>
        <DoubtsTable
          found={found}
          isFiltered={path.includes('?')}
          choose={operator ? (doubt) => <ChooseDoubt doubt={doubt} choice={choice} /> : undefined}
        />
        <OrdersPager found={found} />
      </Panel>
      {asking !== null && (
        <ResolveDoubts
          selection={selection}
          decision={asking}
          onStarted={setTask}
          onClose={() => setAsking(null)}
        />
      )}
    </Page>
  );
}

/**
 * The chosen orders: single ones, kept over pages and refreshes, or all that match. When other orders match than at
 * the time of choosing all, the choice is dropped, because the person has not seen the new ones.
 */
function useChoice(path: string, found: OrdersFound<DoubtRow>) {
  const [single, setSingle] = useState<ReadonlyMap<string, OpSums>>(new Map());
  const [all, setAll] = useState<number | null>(null);
  const [changed, setChanged] = useState(false);
  const set = (orders: ReadonlyMap<string, OpSums>, whole: typeof all) => {
    setSingle(orders);
    setAll(whole);
    setChanged(false);
  };
  const none = () => set(new Map(), null);
  // A person must not act on orders that the filter hides.
  useEffect(none, [path]);
  useEffect(() => {
    if (all === null || found.looking || all === found.of) return;
    none();
    setChanged(true);
  }, [found]);
  const count = all ?? single.size;
  const sums = [...single.values()].reduce(plus, NO_SUMS);
  return {
    count,
    all: all !== null,
    changed,
    orders: [...single.keys()],
    words:
      all !== null
        ? `All ${grouped(all)} chosen`
        : single.size === 0
          ? 'None chosen'
          : `${grouped(single.size)} chosen, ${amountsWords(sums)} tokens`,
    none,
    chooseAll: () => set(new Map(), found.of),
    has: (doubt: DoubtRow) => all !== null || single.has(nameOf(doubt)),
    toggle: (doubt: DoubtRow) => {
      const next = new Map(single);
      if (!next.delete(nameOf(doubt))) next.set(nameOf(doubt), sumOf(doubt.op, doubt.tokens));
      set(next, null);
    },
  };
}

type ChoosingProps = {
  readonly choice: ReturnType<typeof useChoice>;
  readonly found: OrdersFound<DoubtRow>;
};

function ChooseDoubt({ doubt, choice }: Pick<ChoosingProps, 'choice'> & { readonly doubt: DoubtRow }) {
  return (
    <input
      type="checkbox"
      aria-label={`Choose order ${doubt.order}`}
      checked={choice.has(doubt)}
      disabled={choice.all}
      onChange={() => choice.toggle(doubt)}
    />
  );
}

function Choosing({ choice, found }: ChoosingProps) {
  return (
    <div class="choosing">
      <span class="n" role="status">
        {choice.words}
      </span>
      <Button
        name={`Choose all ${grouped(found.of)}`}
        disabled={choice.all || found.looking}
        onPress={choice.chooseAll}
      />
      <Button name="Choose none" look="quiet" disabled={choice.count === 0} onPress={choice.none} />
    </div>
  );
}

/** A decision names the doubt's number too: a later doubt of the same order is another doubt. */
const nameOf = ({ order, doubt }: DoubtRow) => (doubt === null ? order : `${order}:${doubt}`);

type DoubtsTableProps = {
  readonly found: OrdersFound<DoubtRow>;
  readonly isFiltered: boolean;
  readonly choose: ((doubt: DoubtRow) => ComponentChildren) | undefined;
};

const SPEAKS = { paid: 'for paid', unpaid: 'for not paid' } as const;

/** One doubt a row, with everything to compare with the realm's own log. */
function DoubtsTable({ found, isFiltered, choose }: DoubtsTableProps) {
  const isRehearsal = useIsRehearsal();
  if (found.orders.length === 0 && found.looking) return <Loading rows={8} />;
  if (found.orders.length === 0) return <NoDoubts found={found} isFiltered={isFiltered} />;
  return (
    <>
      <Failure failure={found.failure} />
      <Table
        label="Orders in doubt"
        css="orders wide"
        heads={[
          ...(choose === undefined ? [] : [['Choose', 'unseen'] as const]),
          'Order',
          ['Tokens', 'n'],
          'Member',
          'Sent',
          'Balances seen',
          'Request id and key',
          'Why a doubt',
        ]}
      >
        {found.orders.map((doubt) => (
          <DoubtLine key={doubt.order} doubt={doubt} choose={choose} isRehearsal={isRehearsal(doubt.realm)} />
        ))}
      </Table>
    </>
  );
}

function NoDoubts({ found, isFiltered }: Pick<DoubtsTableProps, 'found' | 'isFiltered'>) {
  return (
    <>
      <Failure failure={found.failure} />
      {found.failure === null && (
        <Empty title="No doubts.">
          {isFiltered
            ? 'None matches this filter.'
            : 'Every order’s outcome is proven. That is the normal state.'}
        </Empty>
      )}
    </>
  );
}

type DoubtLineProps = Pick<DoubtsTableProps, 'choose'> & {
  readonly doubt: DoubtRow;
  readonly isRehearsal: boolean;
};

function DoubtLine({ doubt, choose, isRehearsal }: DoubtLineProps) {
  return (
    <tr>
      {choose !== undefined && <td class="o-choose">{choose(doubt)}</td>}
      <td>
        <Link to={placeOf('doubt', doubt.order)}>Evidence</Link>{' '}
        <span class="mono small wrap">{doubt.order}</span> <RehearsalChip on={isRehearsal} />
        <span class="soft small n"> line {grouped(doubt.line)}</span>
      </td>
      <td class="o-tokens n">
        {doubt.op === 'credit' ? '' : `${doubt.op} `}
        {grouped(doubt.tokens ?? 0)}
      </td>
      <td class="o-wide">
        <MemberLink member={doubt.member} />
        {doubt.recipient !== null && (
          <>
            {' '}
            <span class="soft">to</span> <MemberLink member={doubt.recipient} />
          </>
        )}
      </td>
      <td class="o-sent">
        <Time at={doubt.sentAt} none="not known" />
      </td>
      <td class="o-wide">
        <Balances doubt={doubt} />
      </td>
      <td class="o-wide small">
        <span class="seen">
          {doubt.requestId === null ? (
            <span class="soft">no request id was told</span>
          ) : (
            <>
              request <code>{doubt.requestId}</code>
            </>
          )}
        </span>
        <span class="seen">
          key <code>{doubt.key ?? 'not known'}</code>
        </span>
      </td>
      <td class="o-wide what">{doubt.message}</td>
    </tr>
  );
}

function balanceWords(before: string | null, ifPaid: string | null, then: string | null): string {
  const first = before === null ? [] : [`before ${grouped(before)}`, `if paid ${grouped(ifPaid ?? '')}`];
  const words = [...first, ...(then === null ? [] : [`then ${grouped(then)}`])];
  return words.length === 0 ? 'no balance was read' : words.join(', ');
}

/**
 * The balance before sending and when the doubt arose. Between them is the balance expected if the order was paid.
 */
function Balances({ doubt: { sides, looksLike } }: { readonly doubt: DoubtRow }) {
  return (
    <>
      {sides.map(({ member, before, ifPaid, inDoubt }) => (
        <span key={member} class="n seen">
          {sides.length > 1 && `${member}: `}
          {balanceWords(before, ifPaid, inDoubt)}
        </span>
      ))}
      {looksLike !== null && <b class="seen">speaks {SPEAKS[looksLike]}</b>}
    </>
  );
}
