import type { RealmCard, UploadReply } from '../../../api-types.js';
import { Panel } from '../../parts/panel.js';
import { bytesWords } from '../../words/numbers.js';
import type { Draft } from './draft.js';

type PlanOptionsProps = {
  readonly file: UploadReply;
  readonly draft: Draft;
  readonly realms: readonly RealmCard[];
  readonly stage: 'uploaded' | 'planning' | 'planned';
  /** The realm was paid under another address: whether this one is meant is a switch as well. */
  readonly asksAddress: boolean;
  readonly onDraft: (draft: Draft) => void;
  readonly onPlan: () => void;
  readonly onOther: () => void;
};

const BUTTONS = { uploaded: 'Plan it', planning: 'Planning…', planned: 'Plan again' } as const;

/** The same switches as the command line. */
export function PlanOptions(props: PlanOptionsProps) {
  const { file, realms, draft, stage, asksAddress, onPlan, onOther } = props;
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
          <button type="button" class="quiet" onClick={onOther}>
            Another file
          </button>
        </>
      }
    >
      <form class="filters flat" onSubmit={submit}>
        {realms.length > 1 && (
          <div class="field">
            <label for="plan-realm">Realm</label>
            <select
              id="plan-realm"
              required
              value={draft.realm}
              // An address is meant of one realm.
              onChange={(event) => say({ realm: event.currentTarget.value, newAddress: false })}
            >
              <option value="">choose which one</option>
              {realms.map((card) => (
                <option key={card.realm} value={card.realm}>
                  {card.realm}
                  {card.rehearsal ? ' (REHEARSAL)' : ''}
                </option>
              ))}
            </select>
          </div>
        )}
        <div class="field">
          <label for="plan-map">Columns by other names</label>
          <input
            id="plan-map"
            type="text"
            placeholder="tokens=Punkte member=Id"
            value={draft.map}
            onInput={(event) => say({ map: event.currentTarget.value })}
          />
        </div>
        <div class="field">
          <label for="plan-again">Again on purpose</label>
          <input
            id="plan-again"
            type="text"
            placeholder="label, when it looks paid"
            value={draft.again}
            onInput={(event) => say({ again: event.currentTarget.value })}
          />
        </div>
        <Check
          id="plan-new-rows"
          label="Only new rows: leave out what was paid before"
          on={draft.newRowsOnly}
          onChange={(newRowsOnly) => say({ newRowsOnly })}
        />
        <Check
          id="plan-skip"
          label="Take the good rows, carry the bad ones as invalid"
          on={draft.skipInvalid}
          onChange={(skipInvalid) => say({ skipInvalid })}
        />
        {asksAddress && (
          <Check
            id="plan-address"
            label="The new address is meant"
            on={draft.newAddress}
            onChange={(newAddress) => say({ newAddress })}
          />
        )}
        <button type="submit" class={stage === 'uploaded' ? 'primary' : ''} disabled={stage === 'planning'}>
          {BUTTONS[stage]}
        </button>
      </form>
    </Panel>
  );
}

type CheckProps = {
  readonly id: string;
  readonly label: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
};

function Check({ id, label, on, onChange }: CheckProps) {
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        checked={on}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
    </div>
  );
}
