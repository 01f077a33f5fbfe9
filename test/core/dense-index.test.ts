import { expect, test } from 'vitest';
import { DenseIndex, mix } from '../../src/core/dense-index.js';

const KEYS = 200_000;

test('an index finds every entry again, and grows without going over many of them at once', () => {
  const index = new DenseIndex();
  const keys: number[] = [];
  let [asked, most] = [0, 0];
  const hash = (key: number) => mix(key, 0, 0);
  const hashOf = (entry: number) => {
    asked += 1;
    return hash(keys[entry] ?? -1);
  };
  const enter = (key: number) => index.find(hash(key), (entry) => keys[entry] === key, hashOf);
  for (let key = 0; key < KEYS; key++) {
    asked = 0;
    if (enter(key) !== key) throw new Error(`${key} is taken for another`);
    keys.push(key);
    most = Math.max(most, asked);
  }
  expect(index.size).toBe(KEYS);
  // What grows in one go holds up the process: all of them, and a desk does not answer meanwhile.
  expect(most).toBeLessThan(KEYS / 100);
  expect(keys.filter((key) => enter(key) !== key)).toEqual([]);
  expect(index.seek(hash(KEYS), (entry) => keys[entry] === KEYS)).toBe(-1);
  expect(index.seek(hash(7), (entry) => keys[entry] === 7)).toBe(7);
}, 60_000);
