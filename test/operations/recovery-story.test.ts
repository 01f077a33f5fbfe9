import { expect, test } from 'vitest';
import type { RealmRecovery } from '../../src/operations/services/recovery-state.js';
import { isAnyClosed, storyOf } from '../../src/operations/services/recovery-story.js';

const OPENED = Date.parse('2026-11-19T01:40:00.000Z');

const realm = (more: Partial<RealmRecovery>): RealmRecovery => ({
  realm: 'guild',
  formerAddress: null,
  armed: true,
  untouched: false,
  reason: null,
  rollback: null,
  last: null,
  isPresent: false,
  waitsSince: null,
  waitingBatches: 0,
  sessions: [],
  folders: [],
  losses: [],
  retiring: null,
  recovered: [],
  ...more,
});

const killed = {
  forgot: false,
  sinceMs: null,
  orders: 11,
  unknown: 11,
  doubts: 11,
  batches: 0,
  openedMs: OPENED,
};

test('after a kill it reports how many orders were under way and their current states', () => {
  expect(storyOf(realm({ last: killed, isPresent: true })).happened).toBe(
    'The store was restarted. The killed process was sending 11 orders. It is not known whether they were paid: 11 are doubts now.',
  );
  const resolving = { ...killed, orders: 5, unknown: 1, doubts: 0 };
  expect(storyOf(realm({ last: resolving, isPresent: true })).happened).toBe(
    'The store was restarted. The journals settled 4 orders. The killed process was sending 1 order. It is not known whether it was paid: almoner is resolving 1.',
  );
});

test('a recovery reported before is marked as earlier', () => {
  expect(storyOf(realm({ last: killed })).happened).toMatch(
    /^The store has forgotten nothing that the journals here know of\. Earlier, at 2026-11-19T01:40:00\.000Z: /,
  );
});

test('a closed ledger does not tell the story of an earlier recovery', () => {
  const reason = { code: 'ALM_LEDGER_FOLDER_BEHIND', message: 'The folder is old.', next: '' } as const;
  const earlier = { ...killed, forgot: true, orders: 5, batches: 2 };
  expect(storyOf(realm({ armed: false, reason, last: earlier })).happened).toBe('The folder is old.');
});

test('a data folder that was in this place is said to be missing, and no other machine is named', () => {
  const folder = {
    id: 'a',
    journal: '/data/journal',
    machine: 'vm',
    lastSeen: '2026-11-19T01:00:00.000Z',
    waitedFor: true,
    isAway: true,
    isInUse: false,
  };
  const [here] = storyOf(
    realm({ armed: false, folders: [{ ...folder, fault: null, wasHere: true }] }),
  ).waitsFor;
  expect(here).toBe(
    'The data folder that was in /data before is missing, last heard of 2026-11-19T01:00:00.000Z. If it is lost, choose one of the decisions below.',
  );
  const [away] = storyOf(
    realm({ armed: false, folders: [{ ...folder, fault: null, wasHere: false }] }),
  ).waitsFor;
  expect(away).toContain('on machine vm');
});

test('while it is open it says for which data folder the next restart waits, and what ends that without doubts', () => {
  const at = { id: 'a', journal: '/data/journal', machine: 'laptop', lastSeen: '2026-11-19T01:00:00.000Z' };
  const folder = { ...at, waitedFor: false, fault: null, wasHere: false, isInUse: false };
  const told = (isAway: boolean) => storyOf(realm({ folders: [{ ...folder, isAway }] })).happened;
  expect(told(true)).toMatch(
    /waits for the data folder \/data of laptop\. .*--retire-unseen-since \d{4}-\S+Z --realm guild/,
  );
  expect(told(false)).not.toContain('laptop');
});

test('a closed ledger under an address that no profile has says which address a profile needs', () => {
  const formerAddress = { baseUrl: 'https://old.example', realmId: '77' };
  const former = realm({ armed: false, formerAddress });
  const [waits] = storyOf(former).waitsFor;
  expect(waits).toContain('No profile has the address https://old.example with realm id 77');
  // The same name under its present address is open.
  expect(isAnyClosed([former, realm({})], 'guild')).toBe(false);
  expect(isAnyClosed([former, realm({ realm: 'town' })], 'town')).toBe(false);
  expect(isAnyClosed([former, realm({})], undefined)).toBe(true);
  expect(isAnyClosed([former], 'guild')).toBe(true);
});

test('a data folder that a registered session has is not offered to be retired', () => {
  const at = { id: 'a', journal: '/data/journal', machine: 'vm', lastSeen: '2026-11-19T01:00:00.000Z' };
  const folder = { ...at, waitedFor: true, isAway: true, fault: null, wasHere: false };
  const retiring = { session: 'folders', exact: false, orders: 1, tokens: '5' };
  const kinds = (isInUse: boolean) =>
    storyOf(realm({ armed: false, retiring, folders: [{ ...folder, isInUse }] })).decisions.map(
      ({ kind }) => kind,
    );
  expect(kinds(false)).toEqual(['retire']);
  expect(kinds(true)).toEqual([]);
});
