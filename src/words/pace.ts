import { counted } from '../core/counted.js';
import { formatRate, type Rate } from '../core/profile.js';
import { utcTime } from './spelling.js';

/** Sentences about the learnt pace of a realm, for the log, `status`, `pace` and the desk. */

export function limitNotice(limit: Rate, by: 'headers' | 'refusals', configured: Rate | null): string {
  const rate = formatRate(limit);
  const than = configured === null ? '' : ` instead of ${formatRate(configured)}`;
  return by === 'headers'
    ? `The realm’s answers say that it allows ${rate}${than}; almoner keeps to it.`
    : `The realm keeps refusing more than ${rate}; almoner keeps to that${than} and tries a few requests more now and then.`;
}

export function othersNotice(requests: number): string {
  return `Something else uses this realm’s limit (about ${counted(requests, 'request')} a window); almoner makes room for it.`;
}

export function holdNotice(untilMs: number): string {
  return `The realm asked for patience: nothing is sent until ${utcTime(untilMs)}.`;
}

export const FREE_NOTICE = 'The realm allows the configured rate again.';
export const ALONE_NOTICE = 'Nobody else seems to use the realm’s limit any more.';
