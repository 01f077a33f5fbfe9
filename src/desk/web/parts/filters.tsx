import { useEffect, useId, useState } from 'preact/hooks';
import { useStore } from '../live/store.js';
import { live } from '../live/stream.js';
import { filterBy, useAddress } from '../shell/address.js';
import { Choice, TextField } from './fields.js';

/** Filters live in the address, so that a view can be sent to another person. */

type ListFilterProps = {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
};

export function ListFilter({ name, label, values }: ListFilterProps) {
  const { query } = useAddress();
  const chosen = query.get(name) ?? '';
  // A value from a shared link stays visible, even where the list no longer has it.
  const shown = chosen === '' || values.includes(chosen) ? values : [...values, chosen];
  return (
    <Choice label={label} value={chosen} onChoice={(value) => filterBy(name, value)}>
      <option value="">all</option>
      {shown.map((value) => (
        <option key={value} value={value}>
          {value}
        </option>
      ))}
    </Choice>
  );
}

/** The filter by realm, shown only where there are several realms. */
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
  readonly placeholder: string;
};

const TYPING_PAUSE_MS = 350;

/** Searches when typing pauses, and at once on Enter. */
export function TextFilter({ name, label, placeholder }: TextFilterProps) {
  const { query } = useAddress();
  const set = query.get(name) ?? '';
  const [text, setText] = useState(set);
  const search = () => filterBy(name, text.trim());
  useEffect(() => setText(set), [set]);
  useEffect(() => {
    if (text.trim() === set) return;
    const timer = window.setTimeout(search, TYPING_PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return (
    <TextField label={label} placeholder={placeholder} value={text} onText={setText} onSearch={search} />
  );
}

/** A filter by day. Two of them make a range. */
export function DayFilter({ name, label }: Omit<TextFilterProps, 'placeholder'>) {
  const { query } = useAddress();
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="date"
        value={query.get(name) ?? ''}
        onChange={(event) => filterBy(name, event.currentTarget.value)}
      />
    </div>
  );
}
