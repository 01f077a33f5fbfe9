import { useState } from 'preact/hooks';
import type { PlanReply } from '../../../api/index.js';
import { Button } from '../../parts/fields.js';
import { Time } from '../../parts/marks.js';
import { Notice, Panel, Table } from '../../parts/panel.js';
import type { Draft } from './import-state.js';

type Columns = NonNullable<PlanReply['columns']>;
type Found = Columns['found'][number];

type ColumnsPanelProps = {
  readonly columns: Columns;
  readonly firstOrders: readonly string[];
  /** The mapping that is chosen now, and the one that the plan used. */
  readonly map: readonly string[];
  readonly plannedMap: readonly string[];
  readonly busy: boolean;
  readonly onDraft: (said: Partial<Draft>) => void;
  /** Plans the same file again with these settings. */
  readonly onSay: (said: Partial<Draft>) => void;
};

/** The meaning of each column, to be corrected before anything else. */
export function ColumnsPanel(props: ColumnsPanelProps) {
  const { columns, firstOrders, map, plannedMap, busy, onDraft, onSay } = props;
  const [all, setAll] = useState(false);
  const { found, headerLine, headerBelow, kept } = columns;
  const isChanged = map.join('\n') !== plannedMap.join('\n');
  const meaningOf = ({ name, meaning }: Found) => (isChanged ? saidOf(map, name) : (meaning ?? ''));
  const choose = (name: string, meaning: string) =>
    onDraft({
      map: wholeMap(
        found.map((column) => {
          const now = meaningOf(column);
          // Each meaning belongs to one column only, so that the former column loses it.
          return [column.name, column.name === name ? meaning : now === meaning ? '' : now];
        }),
      ),
    });
  const shown = all ? found : found.filter((column, at) => at < FIRST_SHOWN || meaningOf(column) !== '');
  return (
    <Panel title="Columns" flush aside={<span class="soft n">header on line {headerLine}</span>}>
      <HeaderBelow line={headerBelow} busy={busy} onSay={onSay} />
      {kept !== null && <KeptWords kept={kept} busy={busy} onSay={onSay} />}
      <Table
        label="Columns of the file"
        css="columns"
        heads={['Column', 'Is taken for', 'Why', 'First cells']}
      >
        {shown.map((column, at) => (
          <ColumnRow
            key={`${at} ${column.name}`}
            column={column}
            meaning={meaningOf(column)}
            why={isChanged ? '' : whyWords(column)}
            onChoice={(meaning) => choose(column.name, meaning)}
          />
        ))}
      </Table>
      {shown.length < found.length && (
        <p class="panel-note">
          <Button name={`Show all ${found.length} columns`} look="quiet" onPress={() => setAll(true)} />
        </p>
      )}
      {isChanged ? (
        <p class="panel-note">
          <Button name="Plan with these columns" look="primary" disabled={busy} onPress={() => onSay({})} />
        </p>
      ) : (
        <FirstOrders orders={firstOrders} />
      )}
    </Panel>
  );
}

type SayProps = Pick<ColumnsPanelProps, 'busy' | 'onSay'>;

function HeaderBelow({ line, busy, onSay }: SayProps & { readonly line: number | null }) {
  if (line === null) return null;
  return (
    <Notice tone="warn">
      <p>
        <b>Line {line} looks like the header.</b> What stands above it would be left out.
      </p>
      <Button
        name={`Take line ${line} as the header`}
        disabled={busy}
        onPress={() => onSay({ headerLine: String(line), map: [] })}
      />
    </Notice>
  );
}

/** The kept names for this header: who set them, and their effect on this file. */
function KeptWords({ kept, busy, onSay }: SayProps & { readonly kept: NonNullable<Columns['kept']> }) {
  return (
    <Notice tone={kept.pairs.some(isUnusual) ? 'warn' : 'plain'}>
      <p>
        <b>{kept.who}</b> said something of the same header, <Time at={kept.at} />.
      </p>
      <ul class="bullets">
        {kept.pairs.flatMap(({ map: pair, effect }) =>
          effect === 'none' ? [] : [<li key={pair}>{`${keptWords(pair)} ${EFFECT[effect]}`}</li>],
        )}
      </ul>
      <Button
        name="Forget"
        label="Forget what was said of this header"
        disabled={busy}
        onPress={() => onSay({ forgetColumns: true, map: [] })}
      />
    </Notice>
  );
}

function ColumnRow({ column, meaning, why, onChoice }: MeaningProps & { readonly why: string }) {
  return (
    <tr>
      <td class="name">
        <b>{column.name || 'without a name'}</b>
      </td>
      <td>
        <Meaning column={column} meaning={meaning} onChoice={onChoice} />
      </td>
      <td class="soft small">{why}</td>
      <td class="what mono small">{column.cells.join(' · ')}</td>
    </tr>
  );
}

function FirstOrders({ orders }: { readonly orders: readonly string[] }) {
  if (orders.length === 0) return null;
  return (
    <div class="panel-note">
      The first orders:
      <ul class="bullets n">
        {orders.map((order, at) => (
          <li key={`${at} ${order}`}>{order}</li>
        ))}
      </ul>
    </div>
  );
}

type KeptPair = NonNullable<Columns['kept']>['pairs'][number];

function isUnusual({ effect }: KeptPair): boolean {
  return effect === 'changes' || effect === 'refused';
}

function keptWords(pair: string): string {
  const at = pair.indexOf('=');
  const [meaning, column] = [pair.slice(0, at), pair.slice(at + 1)];
  return column === '' ? `No column is the ${meaning}.` : `${meaning} is “${column}”.`;
}

const EFFECT: Readonly<Record<KeptPair['effect'], string>> = {
  fills: 'It is taken.',
  changes: 'It is taken, and without it the file means something else.',
  refused: 'It is not taken, because a column bears the name. Choose below if it is meant.',
  none: '',
};

const FIRST_SHOWN = 12;
const NEEDED = ['member', 'tokens'] as const;
const MEANINGS = [...NEEDED, 'recipient', 'op', 'reference', 'reason', 'realm', 'currency'] as const;

type MeaningProps = {
  readonly column: Found;
  readonly meaning: string;
  readonly onChoice: (meaning: string) => void;
};

function Meaning({ column, meaning, onChoice }: MeaningProps) {
  if (column.meaning === 'order') return <>the order that the row stands in for</>;
  // A column without a name cannot be mapped.
  if (column.name.trim() === '') return <>not used</>;
  return (
    <select
      aria-label={`${column.name} is taken for`}
      value={meaning}
      onChange={(event) => onChoice(event.currentTarget.value)}
    >
      <option value="">not used</option>
      {MEANINGS.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

function whyWords({ by }: Found): string {
  return by === null ? '' : WHY[by];
}

const WHY: Readonly<Record<NonNullable<Found['by']>, string>> = {
  name: 'by its name',
  like: 'by a name like it',
  said: 'as you said',
  kept: 'as said before',
  profile: 'by the realm’s profile',
  members: 'by the table of members',
};

/**
 * Every meaning with its column, or with none. An unused meaning is sent too; otherwise the server would find its
 * column by name.
 */
function wholeMap(chosen: readonly (readonly [name: string, meaning: string])[]): string[] {
  return MEANINGS.flatMap((meaning) => {
    const column = chosen.find(([, one]) => one === meaning);
    const isNeeded = NEEDED.some((one) => one === meaning);
    return column === undefined && isNeeded ? [] : [`${meaning}=${column?.[0] ?? ''}`];
  });
}

function saidOf(map: readonly string[], name: string): string {
  const pair = map.find((one) => one.slice(one.indexOf('=') + 1) === name);
  return pair === undefined ? '' : pair.slice(0, pair.indexOf('='));
}
