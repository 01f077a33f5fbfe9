import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { bytesWords } from '../../../../words/spelling.js';
import type { PlanRequest, RealmCard, UploadReply } from '../../../api/index.js';
import { Button, Check, Choice, TextField } from '../../parts/fields.js';
import { Panel } from '../../parts/panel.js';

type PlanOptionsProps = {
  readonly file: UploadReply;
  readonly draft: Draft;
  readonly realms: readonly RealmCard[];
  readonly stage: 'uploaded' | 'planning' | 'planned';
  /** The realm was paid under another address: whether this one is meant is a switch as well. */
  readonly asksAddress: boolean;
  /** This machine has paid the realm from another ledger: whether this one is meant is a switch as well. */
  readonly asksLedger: boolean;
  readonly onDraft: (draft: Draft) => void;
  readonly onPlan: () => void;
  readonly onOther: () => void;
  readonly children: ComponentChildren;
};

const BUTTONS = { uploaded: 'Plan it', planning: 'Planning…', planned: 'Plan again' } as const;

/** The same switches as the command line. */
export function PlanOptions(props: PlanOptionsProps) {
  const { file, realms, draft, stage, asksAddress, asksLedger, onPlan, onOther } = props;
  const card = realms.length === 1 ? realms[0] : realms.find(({ realm }) => realm === draft.realm);
  const others = card?.currencies.filter((currency) => currency !== card.currency) ?? [];
  const say = (said: Partial<Draft>) => props.onDraft({ ...draft, ...said });
  const submit = (event: Event) => {
    event.preventDefault();
    onPlan();
  };
  return (
    <Panel
      title={file.name}
      aside={
        <>
          <span class="soft n">{bytesWords(file.bytes)}</span>
          <a href={`/api/uploads/${encodeURIComponent(file.upload)}/file`} download={file.name}>
            Download
          </a>
          <Button name="Another file" look="quiet" onPress={onOther} />
        </>
      }
    >
      <form class="filters flat" onSubmit={submit}>
        {realms.length > 1 && (
          <Choice
            label="Realm"
            required
            value={draft.realm}
            // That an address is meant is said of one realm.
            onChoice={(realm) => say({ realm, currency: '', newAddress: false, newLedger: false })}
          >
            <option value="">choose which one</option>
            {realms.map((card) => (
              <option key={card.realm} value={card.realm}>
                {card.realm}
                {card.rehearsal ? ' (REHEARSAL)' : ''}
              </option>
            ))}
          </Choice>
        )}
        {others.length > 0 && (
          <Choice label="Currency" value={draft.currency} onChoice={(currency) => say({ currency })}>
            <option value="">{card?.currency ?? 'the realm’s own'}</option>
            {others.map((currency) => (
              <option key={currency} value={currency}>
                {currency}
              </option>
            ))}
          </Choice>
        )}
        <TextField
          label="Header line"
          placeholder="the first one"
          inputMode="numeric"
          value={draft.headerLine}
          // What was said of the columns was said of another header.
          onText={(headerLine) => say({ headerLine, map: [] })}
        />
        <TextField
          label="Again on purpose"
          placeholder="label, when it looks paid"
          value={draft.again}
          onText={(again) => say({ again })}
        />
        <TextField
          label="Begin at"
          placeholder="18:00, or 2026-11-20 18:00"
          value={draft.begin}
          onText={(begin) => say({ begin })}
        />
        <TextField
          label="Should be over by"
          placeholder="23:00"
          value={draft.finishBy}
          onText={(finishBy) => say({ finishBy })}
        />
        <Check
          label="Only new rows: leave out what was paid before"
          on={draft.newRowsOnly}
          onChange={(newRowsOnly) => say({ newRowsOnly })}
        />
        <Check
          label="Take the good rows, carry the bad ones as invalid"
          on={draft.skipInvalid}
          onChange={(skipInvalid) => say({ skipInvalid })}
        />
        {asksAddress && (
          <Check
            label="The new address is meant"
            on={draft.newAddress}
            onChange={(newAddress) => say({ newAddress })}
          />
        )}
        {asksLedger && (
          <Check
            label="The new ledger is meant"
            on={draft.newLedger}
            onChange={(newLedger) => say({ newLedger })}
          />
        )}
        <button type="submit" class={stage === 'uploaded' ? 'primary' : ''} disabled={stage === 'planning'}>
          {BUTTONS[stage]}
        </button>
      </form>
      {props.children}
    </Panel>
  );
}

/** A drop zone that is also a plain file field: whoever cannot drag uses the button. */
export function ChooseFile({ onFile }: { readonly onFile: (file: File) => void }) {
  const [over, setOver] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file !== undefined) onFile(file);
  };
  return (
    <section
      class={over ? 'drop over' : 'drop'}
      aria-label="CSV file"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <p class="drop-title">Drop a CSV here</p>
      <p class="soft">
        UTF-8 with a header line: <code>member</code>, <code>tokens</code>, and if you like{' '}
        <code>recipient</code>, <code>op</code>, <code>reference</code>, <code>reason</code>.
      </p>
      <label class="unseen" for="csv">
        CSV file
      </label>
      <input
        id="csv"
        ref={field}
        class="unseen"
        type="file"
        // The button does the same, and can be seen to have the focus.
        tabIndex={-1}
        accept=".csv,text/csv"
        onChange={(event) => take(event.currentTarget.files)}
      />
      <Button name="Choose a file" look="primary" onPress={() => field.current?.click()} />
    </section>
  );
}

/** What the switches say by now; the plan on the page may have been made with another request. */
export type Draft = Readonly<typeof NOTHING_SAID>;
const SWITCHES_OFF = {
  newRowsOnly: false,
  newAddress: false,
  newLedger: false,
  skipInvalid: false,
  forgetColumns: false,
};
export const NOTHING_SAID = {
  realm: '',
  /** Empty: the realm's own. */
  currency: '',
  map: [] as readonly string[],
  headerLine: '',
  /** The upload that is a table of members. */
  members: '',
  again: '',
  begin: '',
  finishBy: '',
  ...SWITCHES_OFF,
};

export function requestOf({ map, headerLine, ...said }: Draft): PlanRequest {
  const trimmed = Object.entries(said).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.trim() : value,
  ]);
  return {
    ...(map.length === 0 ? {} : { map: [...map] }),
    ...(headerLine.trim() === '' ? {} : { headerLine: Number(headerLine) }),
    ...Object.fromEntries(trimmed.filter(([, value]) => value !== '' && value !== false)),
  };
}

/** Keeps where files go. All else was said of one file and would hide what the next warns of; columns are kept by the server. */
export function keptForNext({ realm }: Draft): Draft {
  return { ...NOTHING_SAID, realm };
}
