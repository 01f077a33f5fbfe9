import { expect, test } from 'vitest';
import { readRecord } from '../../src/ledger/read/rows.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { acceptMissing } from '../../src/ledger/sessions/accept-missing.js';
import { mergeContext } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { concludeAs, feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { SETTLE_MS } from '../support/machines/played-realm.js';
import { tempFolder } from '../support/temp-folder.js';

const bench = ledgersOnRedis();
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('an attempt without an answer does not return a doubt to read-back', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{ member: '77' }, { member: '77' }]);
  await feedAll(batch);
  await ledger.scripts.redis.hset(ledger.keyPrefix, 'settleMs', 300);
  const machines = new Machines(bench.redis(), batch, 'readback');
  const frozen = await machines.start(await tempFolder());
  expect(await frozen.sender.recover()).toBe(true);
  const other = await machines.start(await tempFolder());
  expect(await other.sender.recover()).toBe(true);
  // Order 1 is being sent by a process that freezes. A person gives the session up, and the order becomes a doubt.
  await frozen.sender.begin(1);
  const lost = (await listSessions(ledger)).find(({ id }) => id === frozen.ledger.mark.session)?.id ?? '';
  await acceptMissing(mergeContext(batch, 'readback'), lost, { who: 'ada', at: Date.now() });
  expect((await readRecord(batch.ref, 1)).code).toBe('u');
  expect(await concludeAs(batch, 1, 'u', 'D', { evidence: null })).toMatchObject({ concluded: true });
  // The settle time passes; order 2 of the same member is paid.
  await later(400);
  machines.realm.pass(SETTLE_MS + 1);
  await other.sender.begin(2);
  await other.sender.finish('paid');
  expect((await readRecord(batch.ref, 2)).code).toBe('P');
  // The frozen process wakes: its request never arrived, and it gets no answer.
  await frozen.sender.finish('lost-before');
  await later(20);
  await other.sender.begin(1);
  expect(machines.realm.applied.get(1)).toBeUndefined();
  expect((await readRecord(batch.ref, 1)).code).toBe('D');
  await other.sender.die();
  await frozen.sender.die();
});

for (const certainty of ['readback', 'manual', 'idempotent'] as const)
  for (const fate of ['slow-down', 'refused'] as const)
    test(`two attempts under one number never become waiting or refused by the answer to one of them: ${certainty} ${fate}`, async () => {
      const batch = await sealed(await bench.ledger(), [{ reference: 'r' }, {}]);
      await feedAll(batch);
      const machines = new Machines(bench.redis(), batch, certainty);
      const [one, two] = [await tempFolder(), await tempFolder()];
      const first = await machines.start(one);
      expect(await first.sender.recover()).toBe(true);
      const restore = await photograph(batch.ledger);
      // Machine 2 joins after the backup and is sending order 1 when the store is restored.
      const second = await machines.start(two);
      expect(await second.sender.recover()).toBe(true);
      await second.sender.begin(1);
      await restore();
      // Machine 1 cannot know the folder of machine 2; it opens the ledger and sends order 1 as well.
      expect(await first.sender.recover()).toBe(true);
      await first.sender.begin(1);
      expect(first.sender.open).toHaveLength(1);
      // Machine 2 notices and merges. Then its own request gets a definite refusal, while the other one is under way.
      await second.sender.recover();
      await first.sender.recover();
      await second.sender.recover();
      await second.sender.finish(fate);
      const code = (await readRecord(batch.ref, 1)).code;
      await later(20);
      if (code === 'w' || code === 'p') {
        await second.sender.recover();
        await second.sender.begin(1);
        await second.sender.finish('paid');
      }
      await first.sender.finish('paid');
      expect(['u', 'D']).toContain(code);
      expect(machines.realm.applied.get(1)).toBe(1);
      await first.sender.die();
      await second.sender.die();
    });
