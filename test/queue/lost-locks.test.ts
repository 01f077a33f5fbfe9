import { expect, test } from 'vitest';
import { deliveryTrouble, LOST_LOCKS } from '../../src/queue/lost-locks.js';
import { quietly } from '../../src/queue/rounds.js';

test('locks that a frozen worker lost give one log line, which says that they are harmless', () => {
  const said: string[] = [];
  const say = quietly((message) => said.push(message));
  for (let job = 0; job < 40; job++) {
    say(deliveryTrouble(`worker: could not renew lock for job ${job}`));
    say(deliveryTrouble(`worker: Missing lock for job ${job}. moveToFinished`));
    say(deliveryTrouble(`delivery failed: Missing lock for job ${job}. moveToDelayed`));
  }
  say(deliveryTrouble('worker: OOM command not allowed'));
  expect(said).toEqual([LOST_LOCKS, 'worker: OOM command not allowed']);
});
