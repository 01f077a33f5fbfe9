import { duration, grouped } from '../../../words/spelling.js';
import type { RealmCard } from '../../api/index.js';
import { AllowedKey, PaceChart } from '../parts/charts.js';
import { RehearsalChip, Time } from '../parts/marks.js';
import { Notice, Panel, Prose, Said } from '../parts/panel.js';

/** One realm: pace used against allowed, what waits, and why it stands still. */
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
      {realm.halt !== null && (
        <Notice tone="bad">
          <Said message={`Halted: ${realm.halt.message}`} next={realm.halt.next} />
        </Notice>
      )}
      {realm.fence !== null && !realm.fence.armed && (
        <Notice tone="bad">
          <b>Fenced: nothing is sent.</b>{' '}
          <Prose text={realm.fence.reason?.message ?? 'The store was restarted or rolled back.'} />{' '}
          <Prose text={realm.fence.reason?.next ?? 'Run `almoner recover`.'} />
        </Notice>
      )}
      {realm.breakerSince !== null && (
        <Notice tone="warn">
          <b>The breaker is open</b> since <Time at={realm.breakerSince} />: too many unclear answers in a
          row. One read at a time is tried; it closes by itself.
        </Notice>
      )}
      <div class="pace-head">
        <p>
          <b class="pace-used n">{grouped(pace.used)}</b>{' '}
          <span class="soft n">
            {pace.allowed === null
              ? 'requests in the last minute, no limit set'
              : `of ${grouped(pace.allowed.requests)} requests per ${windowWords(pace.allowed.windowMs)}`}
          </span>
        </p>
        <p class="legend">
          <i class="key k-requests" /> sent
          {pace.allowed !== null && <AllowedKey />}
        </p>
      </div>
      <PaceChart pace={pace} realm={realm.realm} />
      <p class="soft small n realm-foot">
        {grouped(realm.waiting)} waiting · {grouped(realm.queued)} queued · certainty{' '}
        {realm.certainty ?? 'not known'}
        {realm.oldestUnsettledAt !== null && (
          <>
            {' '}
            · oldest open <Time at={realm.oldestUnsettledAt} />
          </>
        )}
      </p>
    </Panel>
  );
}

function windowWords(ms: number): string {
  if (ms === 60_000) return 'minute';
  if (ms === 1_000) return 'second';
  return duration(ms);
}
