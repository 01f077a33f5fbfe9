import type { JournalHead } from '../../src/ledger/journal/line.js';

/** Of a process that is nowhere. */
export function journalHead(session: string): JournalHead {
  return {
    session,
    machine: 'm',
    boot: 'b',
    socket: '/nowhere.sock',
    space: '',
    born: '',
    place: 'gone',
    placeId: '',
    pid: 1,
    kind: 'run',
    startedAt: 1,
  };
}
