import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLOSED, meaningOf, REFUSALS, WAITING_WHYS, WHY_NOT, type WhyNot } from '../../src/core/may-send.js';

/** One list of reasons: what the scripts answer, what core/may-send.ts knows, and what docs/architecture.md shows. */
const LEDGER = 'src/ledger';
const lua = (path: string) => readFileSync(join(LEDGER, path), 'utf8');
const scripts = readdirSync(LEDGER, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.lua'),
);
const isReason = (name: string): name is WhyNot => Object.hasOwn(WHY_NOT, name);
const namedIn = (text: string, rule: RegExp) => [...text.matchAll(rule)].map(([, name = '']) => name);
/** What a function answers, from its first line to the end of the file or to another function. */
const answersOf = (path: string, name: string) => {
  const [, body = ''] = lua(path).split(`local function ${name}(`);
  return namedIn(body.split('\nend\n')[0] ?? '', /return (?:[^\n]* and )?'([a-z-]+)'/g);
};

describe('why an order may not be sent', () => {
  test('the scripts answer the reasons that the program knows, and no others', () => {
    const refused = scripts.flatMap((path) => namedIn(lua(path), /\brefuse\('([a-z-]+)'/g));
    const closed = [
      ...answersOf('includes/fence.lua', 'fenced'),
      ...answersOf('includes/fence.lua', 'fencedSender'),
    ];
    const gate = answersOf('includes/gate.lua', 'closedGate');
    expect([...new Set(gate)].toSorted()).toEqual([...CLOSED].toSorted());
    expect([...new Set([...closed, ...refused, ...gate])].toSorted()).toEqual([...REFUSALS].toSorted());
  });

  test('in the order in which they are asked', () => {
    const [, body = ''] = lua('includes/may-send.lua').split('local function whyNot(');
    const [asked = ''] = body.split('\nend\n');
    /** The questions that a script answers itself, by one of their names. */
    const own: Readonly<Record<string, string>> = {
      members: 'member-held',
      hold: 'hold-lost',
      turn: 'in-order',
      key: 'key-old',
      payment: 'instead',
      day: 'cap',
      gate: 'approval',
    };
    const names = [...asked.matchAll(/\brefuse\('([a-z-]+)'|\bask\.(\w+)\(batch, order\)/g)].map(
      ([, name = '', question = '']) => own[question] ?? name,
    );
    const order: readonly string[] = REFUSALS;
    const places = names.map((name) => order.indexOf(name));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(names).toHaveLength(11 + Object.keys(own).length);
  });

  test('docs/architecture.md shows them in this order, with what they hold back, are called and end by', () => {
    const [, after = ''] = readFileSync('docs/architecture.md', 'utf8').split('\n## May this be sent?\n');
    const [section = ''] = after.split('\n## ');
    const rows = section.split('\n').filter((line) => line.startsWith('| `'));
    const cells = rows.map((row) => row.split('|').map((cell) => cell.replaceAll('`', '').trim()));
    const shown = cells.map(([, reason = '', , , holds, waiting, act]) => ({ reason, holds, waiting, act }));
    const known = Object.keys(WHY_NOT).filter(isReason);
    expect(known.slice(0, REFUSALS.length)).toEqual([...REFUSALS]);
    expect(shown).toEqual(
      known.map((reason) => {
        const { holds, shown: waiting, act } = meaningOf(reason);
        return { reason, holds, waiting: waiting ?? '', act: act ?? '' };
      }),
    );
  });

  test('everything that orders wait for has a reason', () => {
    const called = new Set(
      Object.keys(WHY_NOT)
        .filter(isReason)
        .flatMap((why) => meaningOf(why).shown ?? []),
    );
    expect([...called].toSorted()).toEqual([...WAITING_WHYS].toSorted());
  });
});
