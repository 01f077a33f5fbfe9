import type { Certainty } from '../../src/core/profile.js';
import type { Fate } from '../support/machines/played-realm.js';
import type { Move } from './moves.js';
import type { Until } from './process.js';
import { KEY_LIFETIME_MS, SETTLE_MS } from './realm.js';

/** Themes choose which moves come together, and how often, so that rare moves meet each other. */

export type Kind = Move['do'];
export type Weights = Readonly<Partial<Record<Kind, number>>>;

const WORK: Weights = { send: 40, answer: 8, 'go on': 3, feed: 2, look: 5, 'everybody looks': 3, pass: 4 };
const DEATHS: Weights = { kill: 3, leave: 1, 'lose replies': 2, sleep: 1, wake: 2 };
const PEOPLE: Weights = { 'resolve doubts': 1, retry: 2, 'run failed.csv': 1, steer: 1, recover: 1 };
const FILES: Weights = {
  undo: 3,
  repeat: 3,
  'run a rule': 3,
  start: 3,
  retry: 2,
  'run failed.csv': 2,
  'resolve doubts': 2,
  steer: 1,
};
const PASTS: Weights = { photograph: 3, restore: 2, 'restart the store': 1, 'import again': 2 };
const LOSSES: Weights = {
  'lose the machine': 0.7,
  'accept missing': 2,
  'retire folders': 0.7,
  sleep: 2,
  wake: 2,
};
const CONTAINERS: Weights = { 'create anew': 2, reboot: 1 };
const TIMES: Weights = { 'step the clock': 2, suspend: 1 };

export type Theme = {
  readonly weights: readonly Weights[];
  /** The fates of requests that are not simply paid. */
  readonly fates?: readonly [Fate, ...Fate[]];
  /** The share of requests that are not simply paid. */
  readonly faulty?: number;
  readonly passes?: readonly [number, ...number[]];
  readonly rotates?: boolean;
  readonly forgetsFiles?: boolean;
  readonly only?: Certainty;
  readonly distinct?: boolean;
  readonly guarded?: boolean;
  /** Orders in each of the first files, in themes with files that must end. */
  readonly orders?: number;
  /** The number of members, in themes with orders that must share them. */
  readonly members?: number;
  /** The number of processes, in themes with one process that must see everything. */
  readonly processes?: number;
  readonly untils?: readonly [Until, ...Until[]];
  /**
   * The share of deliveries in which the process dies or freezes, and the largest number of replies before it freezes.
   */
  readonly trouble?: number;
  readonly freezes?: number;
  readonly sameServer?: boolean;
  readonly deniesInfo?: boolean;
  readonly embedded?: boolean;
  readonly copiesFolders?: boolean;
};

const SECOND_MS = 1_000;
export const HOUR_MS = 3_600_000;
export const SOON = [SECOND_MS, 12 * SECOND_MS, SETTLE_MS / 2, SETTLE_MS] as const;
const LONG = [SETTLE_MS, KEY_LIFETIME_MS / 2, KEY_LIFETIME_MS - SETTLE_MS / 2, KEY_LIFETIME_MS] as const;

const FILE_FATES = ['refused', 'refused', 'lost-late', 'lost-after', 'not-sent'] as const;

const DECISIONS: Weights = {
  'export doubts': 8,
  'decide as exported': 8,
  'resolve doubts': 6,
  retry: 20,
  pass: 10,
};
/** Few orders; most of them come into doubt, several times. */
const DOUBTFUL = {
  fates: ['lost-after', 'lost-before'],
  faulty: 0.6,
  passes: [SETTLE_MS],
  only: 'manual',
  orders: 6,
} as const satisfies Omit<Theme, 'weights'>;

export const THEMES = {
  deaths: { weights: [WORK, DEATHS] },
  people: { weights: [WORK, DEATHS, PEOPLE], fates: ['refused', 'lost-late', 'lost-after', 'not-sent'] },
  refusals: {
    weights: [WORK, { retry: 8, 'run failed.csv': 4, pass: 4 }],
    fates: ['refused', 'lost-late', 'refused', 'lost-before'],
  },
  'key life': {
    weights: [WORK, DEATHS, { pass: 6 }],
    passes: LONG,
    fates: ['lost-after', 'lost-late', 'lost-before'],
  },
  pasts: { weights: [WORK, DEATHS, PASTS] },
  files: { weights: [WORK, FILES], fates: FILE_FATES, orders: 24 },
  'distinct files': { weights: [WORK, FILES], fates: FILE_FATES, orders: 24, distinct: true },
  'files and deaths': { weights: [WORK, DEATHS, FILES], orders: 24, distinct: true },
  'files and pasts': { weights: [WORK, DEATHS, FILES, PASTS], orders: 24, distinct: true },
  'pasts and people': { weights: [WORK, DEATHS, PASTS, PEOPLE] },
  'forgotten files': { weights: [WORK, DEATHS, PASTS, { 'import again': 2 }], forgetsFiles: true },
  'schedules and pasts': {
    weights: [WORK, PASTS, { 'the schedule runs': 8, 'import again': 2, kill: 1 }],
    forgetsFiles: true,
    orders: 12,
    distinct: true,
  },
  'cancelled files and pasts': {
    weights: [WORK, PASTS, { steer: 4, repeat: 6, 'import again': 2, kill: 1 }],
    fates: FILE_FATES,
    orders: 12,
    distinct: true,
  },
  rotation: { weights: [WORK, DEATHS, { kill: 4, look: 6 }], rotates: true },
  'rotation and pasts': {
    weights: [WORK, DEATHS, PASTS, { 'accept removed': 1, 'resolve doubts': 1 }],
    rotates: true,
  },
  'lost machines': { weights: [WORK, LOSSES, PEOPLE], passes: LONG },
  'lost pasts': { weights: [WORK, LOSSES, { photograph: 3, restore: 2, kill: 2 }] },
  containers: { weights: [WORK, DEATHS, CONTAINERS, PEOPLE] },
  times: {
    weights: [WORK, DEATHS, TIMES, { 'resolve doubts': 1, suspend: 2 }],
    fates: ['lost-late', 'lost-late', 'lost-after', 'lost-before'],
  },
  schedules: {
    weights: [WORK, DEATHS, FILES, { 'the schedule runs': 6, 'quiet hours': 2, 'set a time': 2 }],
    fates: FILE_FATES,
    passes: [...SOON, HOUR_MS],
    orders: 24,
    distinct: true,
  },
  'quiet hours': {
    weights: [WORK, DEATHS, PASTS, { 'quiet hours': 6, retry: 3, 'resolve doubts': 1 }],
    passes: [SECOND_MS, 60 * SECOND_MS, HOUR_MS],
    orders: 24,
  },
  tables: {
    weights: [WORK, DEATHS, FILES, PASTS, { 'pay by table': 12 }],
    fates: FILE_FATES,
    orders: 24,
    distinct: true,
  },
  meddling: { weights: [WORK, DEATHS, { meddle: 2, blind: 2 }], only: 'readback' },
  'two people': {
    weights: [WORK, DEATHS, FILES, PASTS, { approve: 12, 'set a time': 4, suspend: 1 }],
    fates: FILE_FATES,
    passes: [...SOON, HOUR_MS],
    orders: 24,
    distinct: true,
    guarded: true,
  },
  'let go': {
    weights: [{ send: 20, 'step the clock': 3, suspend: 4, pass: 6, 'resolve doubts': 1, kill: 1 }],
    fates: ['lost-late', 'lost-after'],
    faulty: 0.9,
    passes: [SETTLE_MS],
    only: 'readback',
    members: 3,
    processes: 1,
  },
  'one member': {
    weights: [{ send: 40, answer: 8, 'go on': 6, look: 2, pass: 12, sleep: 1, wake: 3 }],
    fates: ['lost-late', 'lost-before', 'lost-after', 'not-sent'],
    faulty: 0.8,
    passes: [SECOND_MS, SETTLE_MS],
    only: 'readback',
    orders: 1,
    members: 2,
    processes: 2,
    untils: ['answered', 'answered', 'read', 'claimed'],
    trouble: 0.05,
    freezes: 12,
  },
  'old decisions': { weights: [WORK, DECISIONS], ...DOUBTFUL },
  'old decisions and pasts': { weights: [WORK, PASTS, DECISIONS], ...DOUBTFUL },
  'a store that refuses': { weights: [WORK, DEATHS, { refuse: 10, 'resolve doubts': 1 }], orders: 24 },
  'the same server': { weights: [WORK, DEATHS, PASTS], sameServer: true, orders: 24 },
  'a store without INFO': { weights: [WORK, DEATHS, PASTS], deniesInfo: true, orders: 24 },
  'put back': {
    weights: [
      WORK,
      DEATHS,
      {
        photograph: 3,
        'put back': 2,
        'import again': 2,
        recover: 1,
        'accept removed': 1,
        'resolve doubts': 1,
      },
    ],
    embedded: true,
    copiesFolders: true,
    orders: 24,
    distinct: true,
  },
  folders: {
    weights: [
      WORK,
      DEATHS,
      {
        photograph: 3,
        'put back': 2,
        'swap the folder': 2,
        'damage a journal': 2,
        recover: 1,
        'resolve doubts': 1,
      },
    ],
    copiesFolders: true,
    orders: 24,
  },
  'folders and pasts': {
    weights: [WORK, DEATHS, PASTS, { 'put back': 2, recover: 1, 'accept removed': 1, 'resolve doubts': 1 }],
    copiesFolders: true,
    orders: 24,
  },
  everything: {
    weights: [WORK, DEATHS, PEOPLE, PASTS, LOSSES, CONTAINERS, TIMES],
    passes: [...SOON, ...LONG],
  },
} as const satisfies Record<string, Theme>;
export type ThemeName = keyof typeof THEMES;
export const THEME_NAMES = Object.keys(THEMES).filter(isTheme);

export function isTheme(name: string): name is ThemeName {
  return Object.hasOwn(THEMES, name);
}
