import { useState } from 'preact/hooks';
import { counted, grouped } from '../../../../words/spelling.js';
import type { PlanReply, PlanRequest, StartReply, UploadReply } from '../../../api/index.js';
import { change } from '../../live/call.js';
import { useChange } from '../../live/resource.js';
import { Check, TextField } from '../../parts/fields.js';
import { Failure, Notice, Panel } from '../../parts/panel.js';
import { BatchLink, go, placeOf } from '../../shell/address.js';
import { announce } from '../../shell/page.js';

type StartPlanProps = {
  readonly file: UploadReply;
  readonly plan: PlanReply;
  readonly options: PlanRequest;
  readonly busy: boolean;
  /** The switches say something else by now than what was planned. */
  readonly stale: boolean;
  readonly onStarted: () => void;
};

/** The total is typed, not clicked: whoever types it has read it. */
export function StartPlan({ file, plan, options, busy, stale, onStarted }: StartPlanProps) {
  const [typed, setTyped] = useState('');
  const [inOrder, setInOrder] = useState(false);
  const { busy: starting, failure, attempt } = useChange();
  const { payable } = plan;
  if (plan.faultCount > 0) return null;
  if (plan.existing)
    return (
      <Notice tone="warn">
        <b>These very orders are already a batch:</b> <BatchLink batch={plan.batch ?? ''} />.{' '}
        {plan.existingState === 'cancelled'
          ? 'It was cancelled. To pay what was never sent, import unprocessed.csv of its report, with “Only new rows” where another file pays some of its rows by now.'
          : 'Importing them again pays nobody twice.'}
      </Notice>
    );
  if (payable.orders === 0)
    return (
      <Notice tone="warn">Nothing in this file would be paid: every row is a duplicate or invalid.</Notice>
    );
  const right = typedDigits(typed) === payable.tokens;
  const start = (event: Event) => {
    event.preventDefault();
    // What fails is shown by `failure`.
    void attempt(async () => {
      const reply = await change<StartReply>(`/api/uploads/${encodeURIComponent(file.upload)}/start`, {
        ...options,
        rows: plan.rows,
        tokens: payable.tokens,
        ...(inOrder ? { inOrder } : {}),
      });
      onStarted();
      announce(reply.workers === 0 ? 'Enqueued, but no worker is running.' : 'Enqueued.');
      go(placeOf('batch', reply.summary.batch));
    });
  };
  return (
    <Panel title={plan.rehearsal ? 'Start the REHEARSAL' : 'Start it'}>
      <form class="stack" onSubmit={start}>
        <p class="n">
          This pays <b>{counted(payable.orders, 'order')}</b>, <b>{grouped(payable.tokens)} tokens</b> in all,
          to realm <b>{plan.realm}</b>.
        </p>
        <div class="filters flat">
          <TextField
            label="Type the total to confirm"
            inputMode="numeric"
            autocomplete="off"
            value={typed}
            aria-describedby="total-state"
            onText={setTyped}
          />
          <Check label="Strictly in file order (slower)" on={inOrder} onChange={setInOrder} />
          <button type="submit" class="primary" disabled={!right || starting || busy || stale}>
            {starting ? 'Enqueuing…' : `Pay ${counted(payable.orders, 'order')}`}
          </button>
        </div>
        <p id="total-state" class="small soft" role="status">
          {hint(stale, typed === '' || right)}
        </p>
        <Failure failure={failure} />
      </form>
    </Panel>
  );
}

function hint(stale: boolean, right: boolean): string {
  if (stale) return 'The switches above were changed. Plan again to see what that would pay.';
  return right ? '\u00a0' : 'That is not the total of this plan.';
}

/** Digits of a total as people type it: 1,000 and 1 000 and 1.000 are all one thousand. */
function typedDigits(text: string): string {
  return text.replaceAll(/[\s,.'’_]/g, '').replace(/^0+(?=\d)/, '');
}
