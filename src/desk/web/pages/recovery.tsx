import { useState } from 'preact/hooks';
import { RECOVERY_STATE_WORDS } from '../../../words/recovery.js';
import { counted } from '../../../words/spelling.js';
import type { RecoveryDecision, RecoveryReply, RecoveryRequest, RecoveryStory } from '../../api/index.js';
import { change, useIsOperator } from '../live/call.js';
import { useFreshResource } from '../live/resource.js';
import { Confirm } from '../parts/confirm.js';
import { Button } from '../parts/fields.js';
import { Empty, Panel, Pending, Prose } from '../parts/panel.js';
import { Link, placeOf } from '../shell/address.js';
import { announce, Page } from '../shell/page.js';

/**
 * The page after a restart, failover or restore of the store: what happened to each realm, and what a person decides.
 */
export function RecoveryPage() {
  const recovery = useFreshResource<RecoveryReply>('/api/recovery');
  const { value, reload } = recovery;
  const realms = (value?.realms ?? []).map((story, at) => ({ story, key: `${story.realm} ${at}` }));
  const quiet = realms.filter(({ story }) => isQuiet(story));
  return (
    <Page
      title="Recovery"
      lead="What became of each realm after its store was restarted or restored, and what a person decides."
    >
      <Pending of={recovery} rows={6} />
      {realms
        .filter(({ story }) => !isQuiet(story))
        .map(({ story, key }) => (
          <Story key={key} story={story} onDone={reload} />
        ))}
      {quiet.length > 0 && (
        <Panel title="Nothing to decide">
          <ul class="bullets">
            {quiet.map(({ story, key }) => (
              <li key={key}>
                <b>{story.realm}</b>: {story.happened}
                {story.state === 'closed' && ' The next process that sends does that by itself.'}
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {value !== null && realms.length === 0 && (
        <section class="panel">
          <Empty title="No realm has a ledger yet." />
        </section>
      )}
    </Page>
  );
}

/** True where the realm waits for no person and no other machine. */
function isQuiet({ state, decisions, waitsFor }: RecoveryStory): boolean {
  return state !== 'waiting for a person' && decisions.length === 0 && waitsFor.length === 0;
}

const TONES = { open: {}, 'waiting for a person': { tone: 'warn' }, closed: { tone: 'bad' } } as const;

type StoryProps = { readonly story: RecoveryStory; readonly onDone: () => void };

function Story({ story, onDone }: StoryProps) {
  const { realm, state, happened, decisions } = story;
  // The line about what happened is shown once, even where the realm waits for it.
  const waitsFor = story.waitsFor.filter((line) => line !== happened);
  const isOperator = useIsOperator();
  // Fixed when the dialog opens, so that its words and numbers do not change under the person's hand.
  const [asking, setAsking] = useState<{ story: RecoveryStory; decision: RecoveryDecision } | null>(null);
  return (
    <Panel title={realm} {...TONES[state]} aside={<span>{RECOVERY_STATE_WORDS[state]}</span>}>
      <div class="stack">
        <p class="wrap">
          <Prose text={happened} />
        </p>
        {waitsFor.length > 0 && (
          <div>
            <h3>It waits for</h3>
            <ul class="bullets wrap">
              {waitsFor.map((line) => (
                <li key={line}>
                  <Prose text={line} />
                </li>
              ))}
            </ul>
          </div>
        )}
        <Waiting story={story} />
        {decisions.length > 0 && <h3>A person decides</h3>}
        {decisions.map((decision) => (
          <div key={`${decision.kind} ${decision.of}`} class="decision">
            <p class="wrap">{decision.does}</p>
            {isOperator ? (
              <Button
                name={WORDS[decision.kind].verb}
                label={`${WORDS[decision.kind].verb} ${decision.of || realm}`}
                look={WORDS[decision.kind].danger ? 'danger-quiet' : 'primary'}
                onPress={() => setAsking({ story, decision })}
              />
            ) : (
              <p class="soft small">An operator can do this.</p>
            )}
          </div>
        ))}
      </div>
      {asking !== null && <Decide {...asking} onDone={onDone} onClose={() => setAsking(null)} />}
    </Panel>
  );
}

const SHOWN_MAX = 20;

/** The batches to look at before their first sends are resumed. */
function Waiting({ story: { waiting } }: { readonly story: RecoveryStory }) {
  if (waiting.length === 0) return null;
  const more = waiting.length - SHOWN_MAX;
  return (
    <div>
      <h3>Batches that wait</h3>
      <ul class="bullets wrap">
        {waiting.slice(0, SHOWN_MAX).map(({ batch, source, orders, tokens }) => (
          <li key={batch}>
            <Link to={placeOf('batch', batch)}>{source}</Link>: {counted(orders, 'order')} (
            {counted(tokens, 'token')})
          </li>
        ))}
        {more > 0 && (
          <li>
            and <Link to="/batches">{counted(more, 'more batch', 'more batches')}</Link>
          </li>
        )}
      </ul>
    </div>
  );
}

const WORDS: Readonly<
  Record<RecoveryDecision['kind'], { verb: string; asks: string; danger: boolean; done: string }>
> = {
  'accept-missing': {
    verb: 'Give up',
    asks: 'Give up what is lost?',
    danger: true,
    done: 'Given up.',
  },
  'accept-moved': {
    verb: 'Accept the move',
    asks: 'Was the data folder moved whole?',
    danger: true,
    done: 'The move is accepted.',
  },
  retire: {
    verb: 'Stop waiting',
    asks: 'Stop waiting for these data folders?',
    danger: true,
    done: 'These data folders are not waited for any more.',
  },
  resume: {
    verb: 'Resume',
    asks: 'Resume first sends?',
    danger: false,
    done: 'First sends are resumed.',
  },
};

type DecideProps = StoryProps & { readonly decision: RecoveryDecision; readonly onClose: () => void };

/**
 * Asks for a decision and repeats how many orders and tokens it affects. The desk refuses it where these numbers have
 * changed.
 */
function Decide({ story, decision: { kind, of, does }, onDone, onClose }: DecideProps) {
  const { asks, verb, danger, done } = WORDS[kind];
  const orders = story.waiting.reduce((sum, one) => sum + one.orders, 0);
  const tokens = story.waiting.reduce((sum, one) => sum + BigInt(one.tokens), 0n);
  return (
    <Confirm
      title={asks}
      verb={verb}
      danger={danger}
      reason="may"
      act={async (said) => {
        const body: RecoveryRequest = { kind, of, shown: does, ...said };
        // The page reloads after a refusal too, and then shows the decisions that are open now.
        const path = `/api/recovery/${encodeURIComponent(story.realm)}`;
        await change<RecoveryStory>(path, body).finally(onDone);
        announce(done);
      }}
      onClose={onClose}
    >
      <p>
        Realm <b>{story.realm}</b>: {does}
      </p>
      {kind === 'resume' && (
        <p>
          From then on {counted(orders, 'order')} may be sent ({counted(tokens, 'token')}).
        </p>
      )}
      {danger && <p>This cannot be taken back.</p>}
    </Confirm>
  );
}
