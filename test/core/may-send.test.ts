import { describe, expect, test } from 'vitest';
import { actsOn, commandAgainst, type Standstill, shownState, whyNotBatch } from '../../src/core/may-send.js';
import { BATCH_STATES } from '../../src/core/states.js';

const stored = { isLedgerClosed: false, isRealmHalted: false, waitsForPerson: false, closed: null };
const everything = {
  isLedgerClosed: true,
  isRealmHalted: true,
  waitsForPerson: true,
  closed: 'approval',
} as const;

describe('what keeps a batch as a whole from being sent', () => {
  test('is nothing while it runs, and all reasons at once, the first that a person meets before the others', () => {
    for (const state of ['planned', 'running'] as const) {
      expect(whyNotBatch({ ...stored, state })).toEqual([]);
      expect(whyNotBatch({ ...everything, state })).toEqual([
        'disarmed',
        'halted',
        'after-rollback',
        'approval',
      ]);
    }
    expect(whyNotBatch({ ...everything, state: 'paused' })).toEqual(['paused', 'after-rollback', 'approval']);
    expect(whyNotBatch({ ...everything, state: 'halted', closed: null })).toEqual([
      'batch-halted',
      'after-rollback',
    ]);
  });

  test('gives the state in which it is shown; one that is over stays over', () => {
    for (const state of BATCH_STATES)
      expect(shownState(state, whyNotBatch({ ...stored, state }))).toBe(state);
    expect(shownState('running', ['after-rollback'])).toBe('halted');
    expect(shownState('running', ['interrupted'])).toBe('paused');
    expect(shownState('planned', ['approval'])).toBe('planned');
    expect(shownState('done', ['after-rollback'])).toBe('done');
  });
});

describe('what a person may do about it', () => {
  test('resume what stands still, begin what has a time, and recover first where that is refused otherwise', () => {
    const acts = (...reasons: Standstill[]) => [...actsOn(reasons)];
    expect(acts()).toEqual([]);
    for (const why of ['paused', 'batch-halted', 'halted', 'interrupted', 'terms'] as const)
      expect(acts(why)).toEqual(['resume']);
    expect(acts('paused', 'start-time')).toEqual(['resume', 'begin']);
    expect(acts('start-missed')).toEqual(['begin']);
    expect(acts('approval')).toEqual([]);
    for (const why of ['after-rollback', 'disarmed'] as const)
      expect(acts('paused', why, 'start-time')).toEqual(['recover']);
  });

  test('has a command where one ends it', () => {
    expect(commandAgainst('start-missed', 'b-1')).toBe('almoner resume b-1 --now');
    expect(commandAgainst('after-rollback', 'b-1')).toBe('almoner resume --after-rollback');
    expect(commandAgainst('disarmed', 'b-1')).toBe('almoner recover');
    expect(commandAgainst('approval', 'b-1')).toBe('almoner approve b-1');
    expect(commandAgainst('settle-time', 'b-1')).toBeNull();
  });
});
