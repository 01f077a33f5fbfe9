import { useState } from 'preact/hooks';
import { allowedWords, grouped, usedWords } from '../../../words/spelling.js';
import type { RealmCard } from '../../api/index.js';
import { change, useIsOperator } from '../live/call.js';
import { isClosedForPerson } from '../live/stream.js';
import { AllowedKey, PaceChart } from '../parts/charts.js';
import { Confirm } from '../parts/confirm.js';
import { Button } from '../parts/fields.js';
import { RehearsalChip, Time } from '../parts/marks.js';
import { Notice, Panel, Prose, Said } from '../parts/panel.js';
import { Link } from '../shell/address.js';
import { announce } from '../shell/page.js';

/** One realm: the pace used against the allowed pace, what waits, and why. */
export function RealmPanel({ realm }: { readonly realm: RealmCard }) {
  const { pace } = realm;
  return (
    <Panel
      title={realm.realm}
      aside={
        <>
          <RehearsalChip on={realm.rehearsal} />
          {!realm.configured && <span class="chip">no longer configured</span>}
          <span class="soft small wrap mono">{realm.baseUrl}</span>
        </>
      }
      {...(realm.halt === null ? {} : { tone: 'bad' as const })}
    >
      <RealmNotices realm={realm} />
      <div class="pace-head">
        <p>
          <b class="pace-used n">{usedNow(pace)}</b>{' '}
          <span class="soft n">
            {pace.allowed === null ? 'no limit set' : `of ${allowedWords(pace.allowed)} allowed`}
          </span>
        </p>
        <p class="legend">
          <i class="key k-requests" /> sent
          {pace.allowed !== null && <AllowedKey />}
        </p>
      </div>
      <PaceChart pace={pace} realm={realm.realm} />
      <RealmFoot realm={realm} />
    </Panel>
  );
}

type RealmProps = { readonly realm: RealmCard };

function RealmNotices({ realm }: RealmProps) {
  return (
    <>
      {realm.halt !== null && (
        <Notice tone="bad">
          <Said message={`Halted: ${realm.halt.message}`} next={realm.halt.next} />
        </Notice>
      )}
      {isClosedForPerson(realm) && (
        <Notice tone="bad">
          <b>Closed: nothing is sent.</b> <Prose text={realm.fence?.reason?.message ?? ''} />{' '}
          <Link to="/recovery">Recovery</Link>
        </Notice>
      )}
      {realm.waitsForPersonSince !== null && (
        <Notice tone="warn">
          <b>First sends wait for a person</b> since <Time at={realm.waitsForPersonSince} />: the store had
          forgotten something. <Link to="/recovery">Recovery</Link>
        </Notice>
      )}
      {realm.breakerSince !== null && (
        <Notice tone="warn">
          <b>The breaker is open</b> since <Time at={realm.breakerSince} />: too many unclear answers in a
          row. One read at a time is tried; it closes by itself.
        </Notice>
      )}
      <PaceNotices realm={realm} />
    </>
  );
}

function RealmFoot({ realm }: RealmProps) {
  return (
    <p class="soft small n realm-foot">
      {grouped(realm.waiting)} waiting · {grouped(realm.queued)} queued · certainty{' '}
      {realm.certainty ?? 'not known'}
      {realm.oldestUnsettledAt !== null && (
        <>
          {' '}
          · oldest open <Time at={realm.oldestUnsettledAt} />
        </>
      )}
      {realm.fence !== null &&
        !realm.fence.armed &&
        realm.fence.reason === null &&
        ' · nothing sent since the store started'}
    </p>
  );
}

/** The rate of the last window. A realm on hold has no rate. */
function usedNow({ used, allowed, holdUntil }: RealmCard['pace']): string {
  if (holdUntil !== null) return 'on hold';
  return usedWords((used / (allowed?.windowMs ?? 60_000)) * 1_000, allowed);
}

/** The pace that almoner learnt from the realm's replies, since when, and a button to forget it. */
function PaceNotices({ realm }: { readonly realm: RealmCard }) {
  const operator = useIsOperator();
  const [asking, setAsking] = useState(false);
  const { learnt, notes } = realm.pace;
  if (notes.length === 0) return null;
  const reset = async (said: { readonly reason?: string }) => {
    await change(`/api/realms/${encodeURIComponent(realm.realm)}/pace/reset`, said);
    announce('What was learnt of the pace is forgotten');
  };
  return (
    <Notice tone="warn">
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {learnt !== null && (
        <p class="soft small">
          learnt from {learnt.by === 'headers' ? 'the realm’s headers' : 'being refused'} since{' '}
          <Time at={learnt.since} />
        </p>
      )}
      {operator && realm.configured && <Button name="Forget this" onPress={() => setAsking(true)} />}
      {asking && (
        <Confirm
          title="Go on at the configured rate?"
          verb="Forget"
          reason="may"
          act={reset}
          onClose={() => setAsking(false)}
        >
          <p>
            What was learnt of realm {realm.realm} is forgotten, and a hold ends. Requests leave at{' '}
            {allowedWords(realm.pace.configured)} again; where the realm still refuses, it is learnt anew.
          </p>
        </Confirm>
      )}
    </Notice>
  );
}
