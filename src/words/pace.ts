import { counted } from '../core/counted.js';
import { formatRate, type Rate } from '../core/profile.js';
import { utcTime } from './spelling.js';

/** Sentences about the learnt pace of a realm, for the log, `status`, `pace` and the desk. */

/** Says that almoner learnt a limit, from rate headers or from refusals. */
export function limitNotice(limit: Rate, by: 'headers' | 'refusals', configured: Rate | null): string {
  const rate = formatRate(limit);
  const than = configured === null ? '' : ` instead of ${formatRate(configured)}`;
  return by === 'headers'
    ? `The realm’s answers say that it allows ${rate}${than}; almoner keeps to it.`
    : `The realm keeps refusing more than ${rate}; almoner keeps to that${than} and tries a few requests more now and then.`;
}

/** Says that other programs use part of the limit. */
export function othersNotice(requests: number): string {
  return `Another program uses this realm’s limit (about ${counted(requests, 'request')} a window); almoner leaves room for it.`;
}

/** Says that the realm asked for a pause. */
export function holdNotice(untilMs: number): string {
  return `The realm asked almoner to wait: nothing is sent until ${utcTime(untilMs)}.`;
}

export const FREE_NOTICE = 'The realm allows the configured rate again.';
export const ALONE_NOTICE = 'No other program seems to use the realm’s limit any more.';
