import { useState } from 'preact/hooks';
import { onlyGives, totalWords } from '../../../../words/amounts.js';
import { counted, grouped } from '../../../../words/spelling.js';
import type { PlanReply, PlanRequest, StartReply, UploadReply } from '../../../api/index.js';
import { change } from '../../live/call.js';
import { useChange } from '../../live/resource.js';
import { useStore } from '../../live/store.js';
import { live } from '../../live/stream.js';
import { Check, TotalField, typedDigits } from '../../parts/fields.js';
import { Failure, Notice, Panel } from '../../parts/panel.js';
import { BatchLink, go, Link, placeOf } from '../../shell/address.js';
import { announce } from '../../shell/page.js';
import { payableWords } from './plan-preview.js';

type StartPlanProps = {
  readonly file: UploadReply;
  readonly plan: PlanReply;
  readonly options: PlanRequest;
  readonly busy: boolean;
  /** True where the switches changed after the plan was made. */
  readonly stale: boolean;
  readonly onStarted: () => void;
};

/** Starts the batch after the person types the total. Typing it makes them read it. */
export function StartPlan({ file, plan, options, busy, stale, onStarted }: StartPlanProps) {
  const [typed, setTyped] = useState('');
  const [inOrder, setInOrder] = useState(false);
  const { busy: starting, failure, attempt } = useChange();
  const { payable } = plan;
  if (plan.faultCount > 0) return null;
  if (plan.existing || payable.orders === 0) return <NothingToStart plan={plan} />;
  const right = typedDigits(typed) === payable.tokens;
  const verb = payable.amounts !== null && onlyGives(payable.amounts) ? 'Pay' : 'Send';
  const start = (event: Event) => {
    event.preventDefault();
    // `failure` shows an error.
    void attempt(async () => {
      const reply = await change<StartReply>(`/api/uploads/${encodeURIComponent(file.upload)}/start`, {
        ...options,
        rows: plan.rows,
        tokens: payable.tokens,
        shown: plan.shown,
        ...(inOrder ? { inOrder } : {}),
      });
      onStarted();
      if (reply.summary.reason?.code === 'ALM_BATCH_APPROVAL')
        announce('Prepared. It waits for an approval.');
      else announce(reply.workers === 0 ? 'Enqueued, but no worker is running.' : 'Enqueued.');
      go(placeOf('batch', reply.summary.batch));
    });
  };
  return (
    <Panel title={plan.rehearsal ? 'Start the REHEARSAL' : 'Start it'}>
      <form class="stack" onSubmit={start}>
        <NoWorkerYet realm={plan.realm} />
        <SecondPerson realm={plan.realm} />
        <p class="n">
          This sends <b>{counted(payable.orders, 'order')}</b> to realm <b>{plan.realm}</b>:{' '}
          <b>{payableWords(plan)}</b>. The total is <b>{grouped(payable.tokens)}</b>
          {payable.amounts !== null && `, ${totalWords(payable.amounts)}`}.
        </p>
        <div class="filters flat">
          <TotalField typed={typed} onText={setTyped} describedBy="total-state" />
          <Check label="Strictly in file order (slower)" on={inOrder} onChange={setInOrder} />
          <button type="submit" class="primary" disabled={!right || starting || busy || stale}>
            {starting ? 'Enqueuing…' : `${verb} ${counted(payable.orders, 'order')}`}
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

function NothingToStart({ plan }: { readonly plan: PlanReply }) {
  if (!plan.existing)
    return (
      <Notice tone="warn">Nothing in this file would be sent: every row is a duplicate or invalid.</Notice>
    );
  return (
    <Notice tone="warn">
      <b>These very orders are already a batch:</b> <BatchLink batch={plan.batch ?? ''} />.{' '}
      {plan.existingState === 'cancelled'
        ? 'It was cancelled. To pay what was never sent, import unprocessed.csv of its report, with “Only new rows” where another file pays some of its rows by now.'
        : 'Importing them again pays nobody twice.'}
    </Notice>
  );
}

/** Warns before the start that no worker takes batches of this realm. */
function NoWorkerYet({ realm }: { readonly realm: string }) {
  const { overview } = useStore(live);
  const isWorked = overview?.workers.processes.some(
    ({ kind, state, realms }) =>
      kind === 'worker' && (state === 'alive' || state === 'elsewhere') && realms.includes(realm),
  );
  if (isWorked !== false) return null;
  return (
    <Notice tone="loud">
      <b>NO WORKER IS RUNNING for realm {realm}.</b> What you start here waits until one is started with{' '}
      <code>almoner worker</code>, on any machine that reaches this store.
    </Notice>
  );
}

/** Warns before the start that the batch will wait for another person's approval. */
function SecondPerson({ realm }: { readonly realm: string }) {
  const { overview } = useStore(live);
  const required = overview?.realms.find((card) => card.realm === realm)?.secondPerson ?? null;
  if (required === null) return null;
  return (
    <Notice tone="plain">
      In realm <b>{realm}</b> {required}. Where that is so, it waits among the{' '}
      <Link to="/approvals">approvals</Link>, and nothing of it is sent before.
    </Notice>
  );
}

function hint(stale: boolean, right: boolean): string {
  if (stale) return 'The switches above were changed. Plan again to see what that would do.';
  return right ? '\u00a0' : 'That is not the total of this plan.';
}
