/** The events that almoner notifies about. Webhooks, the configuration and the desk use these names. */
export const NOTICE_EVENTS = [
  'batch.finished',
  'batch.halted',
  'batch.paused',
  'batch.doubt',
  'batch.approval',
  'batch.missed',
  'batch.no-worker',
  'batch.missing-session',
  'realm.hold',
  'realm.after-rollback',
  'schedule.done',
  'schedule.failed',
  'schedule.waits',
  'schedule.missed',
  'store.away',
  'test',
] as const;
export type NoticeEvent = (typeof NOTICE_EVENTS)[number];

/** Events that need no action. */
export const ONLY_NEWS: readonly NoticeEvent[] = ['batch.finished', 'schedule.done', 'test'];
