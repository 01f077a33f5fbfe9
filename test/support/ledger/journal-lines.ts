import { batchId, memberId } from '../../../src/core/ids.js';
import type { Intent, JournalHead } from '../../../src/ledger/journal/line.js';

/** A journal head of a process that does not exist. */
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

/** The first attempt of an order of one batch; its nonce follows from its index. */
export function journalIntent(index: number): Intent {
  return {
    realm: 'almoner:{0123456789ab}',
    batch: batchId('abc123'),
    index,
    nonce: `nonce-${index}`,
    line: index,
    op: 'credit',
    member: memberId('1'),
    recipient: null,
    tokens: 5,
    reference: null,
    replaces: null,
    undoes: null,
    currency: null,
    certainty: 'manual',
    keyLifetimeMs: 60_000,
    keyNumber: 1,
    keyFirstAt: 1_000,
    attempts: 1,
    tries: 0,
    seq: index,
    sentAt: 1_000,
    firstSentAt: 1_000,
    resend: false,
    settleMs: 0,
  };
}
