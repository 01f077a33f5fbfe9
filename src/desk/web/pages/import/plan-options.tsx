import type { ComponentChildren } from 'preact';
import { bytesWords } from '../../../../words/spelling.js';
import type { RealmCard, UploadReply } from '../../../api/index.js';
import { Button, Check, Choice, TextField } from '../../parts/fields.js';
import { Panel } from '../../parts/panel.js';
import type { Draft } from './import-state.js';

type PlanOptionsProps = {
  readonly file: UploadReply;
  readonly draft: Draft;
  readonly realms: readonly RealmCard[];
  readonly stage: 'uploaded' | 'planning' | 'planned';
  /** True where the realm was paid under another address. A switch then asks whether this address is intended. */
  readonly asksAddress: boolean;
  /**
   * True where this machine paid the realm from another ledger. A switch then asks whether this ledger is intended.
   */
  readonly asksLedger: boolean;
  readonly onDraft: (draft: Draft) => void;
  readonly onPlan: () => void;
  readonly onOther: () => void;
  readonly children: ComponentChildren;
};

const BUTTONS = { uploaded: 'Plan it', planning: 'Planning…', planned: 'Plan again' } as const;

/** The same switches as those of the command line. */
export function PlanOptions(props: PlanOptionsProps) {
  const { file, draft, stage, onPlan, onOther } = props;
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
        <WhereTo realms={props.realms} draft={draft} say={say} />
        <HowToRead draft={draft} say={say} />
        <Switches {...props} say={say} />
        <button type="submit" class={stage === 'uploaded' ? 'primary' : ''} disabled={stage === 'planning'}>
          {BUTTONS[stage]}
        </button>
      </form>
      {props.children}
    </Panel>
  );
}

type SayProps = { readonly draft: Draft; readonly say: (said: Partial<Draft>) => void };

/** The realm and its currency, where there are several. */
function WhereTo({ realms, draft, say }: SayProps & Pick<PlanOptionsProps, 'realms'>) {
  const card = realms.length === 1 ? realms[0] : realms.find(({ realm }) => realm === draft.realm);
  const others = card?.currencies.filter((currency) => currency !== card.currency) ?? [];
  return (
    <>
      {realms.length > 1 && (
        <Choice
          label="Realm"
          required
          value={draft.realm}
          // Another realm resets these switches: they were confirmed for one realm only.
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
    </>
  );
}

function HowToRead({ draft, say }: SayProps) {
  return (
    <>
      <TextField
        label="Header line"
        placeholder="the first one"
        inputMode="numeric"
        value={draft.headerLine}
        // Another header resets the mapping.
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
    </>
  );
}

function Switches({
  draft,
  say,
  asksAddress,
  asksLedger,
}: SayProps & Pick<PlanOptionsProps, 'asksAddress' | 'asksLedger'>) {
  return (
    <>
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
    </>
  );
}
