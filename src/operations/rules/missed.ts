import { AlmonerError } from '../../core/errors/error.js';
import { spellMoment } from '../../core/zones.js';
import { notes, type RealmLedger, storeNowMs } from '../../ledger/index.js';
import { periodName } from '../../rules/calendar.js';
import { type MissedTime, missedTimes } from '../../rules/missed.js';
import type { Rule } from '../../rules/rule.js';
import type { RunMeta } from '../../rules/run-record.js';
import type { App } from '../../runtime/app.js';
import { counted, minuteTime } from '../../words/spelling.js';
import { record } from '../people/audit.js';

/** A person takes missed times off the list: they are let go, or a run makes them up. */

/** Lets times go; `choose` sees the list of the rule in a realm. Returns the times that were taken off. */
export async function dismissTimes(
  app: App,
  rule: string,
  choose: (listed: readonly MissedTime[]) => readonly number[],
  why: string,
): Promise<number[]> {
  const gone: number[] = [];
  for (const profile of app.config.profiles) {
    const ledger = app.ledger(profile);
    const times = choose(await missedTimes(ledger, rule));
    const by = { who: app.config.operator, at: await storeNowMs(ledger), why, batch: null };
    if (times.length > 0) gone.push(...(await notes.scheduledTimes.dismissMissed(ledger, rule, times, by)));
  }
  if (gone.length === 0) throw notMissed(rule, 'None of these times');
  await record(app, { what: letGoWords(rule, gone), why });
  return gone;
}

/**
 * The missed time that a run is to make up. Its period is the one that it had then: under another one the references of
 * its orders would be others, and members who were paid in it meanwhile would be paid twice.
 */
export async function refuseOtherPeriod(
  ledger: RealmLedger,
  { name, period, zone }: Pick<Rule, 'name' | 'period' | 'zone'>,
  at: number,
): Promise<void> {
  const listed = (await missedTimes(ledger, name)).find((one) => one.at === at);
  if (listed === undefined) throw notMissed(name, spellMoment(at, zone));
  const now = periodName(period, at, zone);
  if (now === listed.period) return;
  throw new AlmonerError(
    'ALM_RULE_OTHER_PERIOD',
    `${spellMoment(at, listed.zone)} belonged to the period ${listed.period} of rule ${name}, and by its present text to ${now}. Members who were paid in ${listed.period} could be paid again. Nothing was enqueued.`,
  );
}

/** A run by hand for a missed time, in that time's period, makes it up. False where that time is not on the list. */
export async function makeUp(
  app: App,
  ledger: RealmLedger,
  { rule, at, period, id }: Pick<RunMeta, 'rule' | 'at' | 'period' | 'id'>,
  batch: string | null,
): Promise<boolean> {
  const listed = (await missedTimes(ledger, rule)).find((one) => one.at === at && one.period === period);
  if (listed === undefined) return false;
  const why = `made up by run ${id}${batch === null ? ', which had nobody to pay' : ''}`;
  const by = { who: app.config.operator, at: await storeNowMs(ledger), why, batch };
  const isMadeUp = (await notes.scheduledTimes.dismissMissed(ledger, rule, [at], by)).length > 0;
  const what = `made up the missed time ${minuteTime(at)} of rule ${rule}`;
  if (isMadeUp) await record(app, { what, why: null, batches: batch === null ? [] : [batch] });
  return isMadeUp;
}

const NAMED_MAX = 5;

export function letGoWords(rule: string, times: readonly number[]): string {
  const named = times.slice(0, NAMED_MAX).map(minuteTime).join(', ');
  const last = times.at(-1) ?? 0;
  const more = times.length > NAMED_MAX ? ` … ${minuteTime(last)}` : '';
  return `let ${counted(times.length, 'missed time')} of rule ${rule} go: ${named}${more}`;
}

function notMissed(rule: string, what: string): AlmonerError {
  return new AlmonerError(
    'ALM_RULE_NOT_MISSED',
    `${what} is not on the list of missed times of rule ${rule}. Nothing was done.`,
  );
}
