import { expect, test } from 'vitest';
import { quietly } from '../../src/queue/rounds.js';

test('the same trouble is logged once in a while, and another one at once', () => {
  const said: string[] = [];
  const say = quietly((message) => said.push(message), 60_000);
  for (let i = 0; i < 5_000; i++) say('worker: OOM command not allowed when used memory > maxmemory');
  say('feed: connection is closed');
  expect(said).toEqual([
    'worker: OOM command not allowed when used memory > maxmemory',
    'feed: connection is closed',
  ]);
});

test('a repeated log line says how often the trouble occurred', () => {
  const said: string[] = [];
  const say = quietly((message) => said.push(message), 0);
  say('a');
  say('a');
  expect(said).toEqual(['a', 'a']);
});
