import { batchId } from '../../../src/core/ids.js';
import type { Intent, JournalHead } from '../../../src/ledger/journal/line.js';

/** A head as a process writes it that is nowhere. */
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

/** The first attempt of an order of one batch; its nonce is told by its index. */
export function journalIntent(index: number): Intent {
  return {
    realm: 'almoner:{0123456789ab}',
    batch: batchId('abc123'),
    no: '1',
    index,
    nonce: `nonce-${index}`,
    keyNumber: 1,
    attempts: 1,
    tries: 0,
    tokens: 5,
    seq: index,
    sentAt: 1_000,
    firstSentAt: 1_000,
    resend: false,
    settleMs: 0,
  };
}
