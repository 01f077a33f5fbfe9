import { useState } from 'preact/hooks';
import { amountsWords } from '../../../../words/amounts.js';
import { grouped } from '../../../../words/spelling.js';
import type { BatchReply } from '../../../api/index.js';
import { change, useIsOperator } from '../../live/call.js';
import { Confirm } from '../../parts/confirm.js';
import { Button } from '../../parts/fields.js';
import { announce } from '../../shell/page.js';

const ACTIONS = {
  pause: {
    verb: 'Pause',
    asks: 'Pause this batch?',
    does: 'What is being sent now finishes; nothing else is sent until a person resumes it.',
  },
  resume: {
    verb: 'Resume',
    asks: 'Resume this batch?',
    does: 'Orders that wait go on being sent, at the realm’s pace. A run that was interrupted is handed to the workers. A set time stays.',
  },
  begin: {
    verb: 'Begin now',
    asks: 'Begin this batch now?',
    does: 'Its orders are sent now instead of at the set time.',
  },
  cancel: {
    verb: 'Cancel the rest',
    asks: 'Cancel what was not sent?',
    does: 'Orders that were not sent never will be. What was paid stays paid; nothing is taken back.',
  },
} as const;
type Action = keyof typeof ACTIONS;

const LOOKS = { pause: 'primary', resume: 'primary', begin: 'danger-quiet', cancel: 'danger-quiet' } as const;

/** The buttons that pause, resume and cancel a batch. The server says which of them apply. */
export function Steering({ reply, onDone }: { readonly reply: BatchReply; readonly onDone: () => void }) {
  const operator = useIsOperator();
  const [asking, setAsking] = useState<Action | null>(null);
  const { summary } = reply;
  const possible = (['pause', 'resume', 'begin', 'cancel'] as const).filter((action) =>
    reply.can.includes(action),
  );
  const doubts = summary.counts.doubt ?? 0;
  const act = async (action: Action, said: { readonly reason?: string }) => {
    const [verb, body] = action === 'begin' ? ['resume', { ...said, now: true }] : [action, said];
    await change<BatchReply>(`/api/batches/${encodeURIComponent(summary.batch)}/${verb}`, body);
    announce(`${ACTIONS[action].verb}: done`);
    onDone();
  };
  return (
    <>
      {operator &&
        possible.map((action) => (
          <Button
            key={action}
            name={ACTIONS[action].verb}
            look={LOOKS[action]}
            onPress={() => setAsking(action)}
          />
        ))}
      {reply.can.includes('undo') && (
        <a class="button" href={`/api/batches/${encodeURIComponent(summary.batch)}/undo`} download>
          {doubts === 0 ? 'Undo file' : `Undo file (without ${grouped(doubts)} in doubt)`}
        </a>
      )}
      {asking !== null && (
        <Confirm
          title={ACTIONS[asking].asks}
          verb={ACTIONS[asking].verb}
          danger={asking === 'cancel'}
          reason="may"
          act={(said) => act(asking, said)}
          onClose={() => setAsking(null)}
        >
          <p>
            <b>{summary.source}</b>
            {summary.rehearsal && ' (REHEARSAL)'}: {grouped(summary.counts.paid ?? 0)} paid,{' '}
            {grouped(summary.counts.planned ?? 0)} not sent yet. In all: {amountsWords(summary.amounts)}{' '}
            tokens.
          </p>
          <p>{ACTIONS[asking].does}</p>
          {reply.gate?.begins != null && (
            <p>
              The set time is <b>{reply.gate.begins}</b>.
            </p>
          )}
        </Confirm>
      )}
    </>
  );
}
