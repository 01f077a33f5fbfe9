import { useState } from 'preact/hooks';
import type { PlanRequest, RealmCard, UploadReply } from '../../../api-types.js';
import { Panel } from '../../parts/panel.js';
import { bytesWords } from '../../words/numbers.js';

type PlanOptionsProps = {
  readonly file: UploadReply;
  readonly options: PlanRequest;
  readonly realms: readonly RealmCard[];
  readonly stage: 'uploaded' | 'planning' | 'planned';
  readonly onPlan: (options: PlanRequest) => void;
  readonly onOther: () => void;
};

const BUTTONS = { uploaded: 'Plan it', planning: 'Planning…', planned: 'Plan again' } as const;

/** The same switches as the command line: realm, column names, --skip-invalid, --again, --new-rows-only. */
export function PlanOptions({ file, realms, options, stage, onPlan, onOther }: PlanOptionsProps) {
  const [map, setMap] = useState((options.map ?? []).join(' '));
  const [again, setAgain] = useState(options.again ?? '');
  const [newRowsOnly, setNewRowsOnly] = useState(options.newRowsOnly ?? false);
  const [skipInvalid, setSkipInvalid] = useState(options.skipInvalid ?? false);
  const [realm, setRealm] = useState(options.realm ?? '');
  const submit = (event: Event) => {
    event.preventDefault();
    const columns = map.split(/\s+/).filter((pair) => pair !== '');
    onPlan({
      ...(realm === '' ? {} : { realm }),
      ...(skipInvalid ? { skipInvalid } : {}),
      ...(columns.length === 0 ? {} : { map: columns }),
      ...(again.trim() === '' ? {} : { again: again.trim() }),
      ...(newRowsOnly ? { newRowsOnly } : {}),
    });
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
              value={realm}
              onChange={(event) => setRealm(event.currentTarget.value)}
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
            value={map}
            onInput={(event) => setMap(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for="plan-again">Again on purpose</label>
          <input
            id="plan-again"
            type="text"
            placeholder="label, when it looks paid"
            value={again}
            onInput={(event) => setAgain(event.currentTarget.value)}
          />
        </div>
        <div class="field check">
          <input
            id="plan-new-rows"
            type="checkbox"
            checked={newRowsOnly}
            onChange={(event) => setNewRowsOnly(event.currentTarget.checked)}
          />
          <label for="plan-new-rows">Only new rows: leave out what was paid before</label>
        </div>
        <div class="field check">
          <input
            id="plan-skip"
            type="checkbox"
            checked={skipInvalid}
            onChange={(event) => setSkipInvalid(event.currentTarget.checked)}
          />
          <label for="plan-skip">Take the good rows, carry the bad ones as invalid</label>
        </div>
        <button type="submit" class={stage === 'uploaded' ? 'primary' : ''} disabled={stage === 'planning'}>
          {BUTTONS[stage]}
        </button>
      </form>
    </Panel>
  );
}
