/** What somebody outside can be told of; the names are those of webhooks, of the configuration and of the desk. */
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

/** What nobody has to do anything about. */
export const ONLY_NEWS: readonly NoticeEvent[] = ['batch.finished', 'schedule.done', 'test'];
