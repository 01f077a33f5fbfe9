import { useEffect, useId, useState } from 'preact/hooks';
import { grouped, percent } from '../../../words/spelling.js';
import type { OrdersFound } from '../live/orders.js';
import { useStore } from '../live/store.js';
import { live } from '../live/stream.js';
import { go, useAddress, withQuery } from '../shell/address.js';

/** Filters live in the address, so that what somebody sees can be sent to somebody else. */

type ListFilterProps = {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
};

export function ListFilter({ name, label, values }: ListFilterProps) {
  const { query } = useAddress();
  const id = useId();
  const chosen = query.get(name) ?? '';
  // A value from a shared link that is not in the list any more must still be seen to be set.
  const shown = chosen === '' || values.includes(chosen) ? values : [...values, chosen];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={chosen}
        onChange={(event) => go(withQuery({ [name]: event.currentTarget.value, cursor: null }), 'replace')}
      >
        <option value="">all</option>
        {shown.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Only where there is a choice. */
export function RealmFilter() {
  const { overview } = useStore(live);
  const { query } = useAddress();
  const realms = [...new Set((overview?.realms ?? []).map(({ realm }) => realm))];
  if (realms.length < 2 && query.get('realm') === null) return null;
  return <ListFilter name="realm" label="Realm" values={realms} />;
}

type TextFilterProps = {
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
};

const TYPING_PAUSE_MS = 350;

/** Searches when typing stops, and at once on Enter. */
export function TextFilter({ name, label, placeholder }: TextFilterProps) {
  const { query } = useAddress();
  const set = query.get(name) ?? '';
  const [text, setText] = useState(set);
  const id = useId();
  useEffect(() => setText(set), [set]);
  useEffect(() => {
    if (text.trim() === set) return;
    const timer = window.setTimeout(
      () => go(withQuery({ [name]: text.trim(), cursor: null }), 'replace'),
      TYPING_PAUSE_MS,
    );
    return () => window.clearTimeout(timer);
  }, [text]);
  return (
    <div class="field grow">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') go(withQuery({ [name]: text.trim(), cursor: null }), 'replace');
        }}
      />
    </div>
  );
}

/**
 * Forwards by cursor, which costs the same on page 2 and on page 20,000; backwards by the browser's history,
 * because a cursor only knows one direction.
 */
export function Pager({ found }: { readonly found: OrdersFound }) {
  const { query } = useAddress();
  const onFirst = query.get('cursor') === null;
  return (
    <div class="pager">
      <span class="n soft" role="status">
        {wordsOf(found)}
      </span>
      <button type="button" disabled={onFirst} onClick={() => go(withQuery({ cursor: null }))}>
        First
      </button>
      <button type="button" disabled={onFirst} onClick={() => history.back()}>
        Back
      </button>
      <button
        type="button"
        disabled={found.next === null || found.looking}
        onClick={() => go(withQuery({ cursor: found.next }))}
      >
        Next
      </button>
    </div>
  );
}

function wordsOf({ looking, orders, scanned, of }: OrdersFound): string {
  if (looking && of === 0) return 'Looking…';
  if (looking) return `Looking: ${grouped(scanned)} of ${grouped(of)} rows (${percent(scanned, of)})`;
  return `${grouped(orders.length)} shown, ${grouped(scanned)} of ${grouped(of)} rows looked at`;
}
