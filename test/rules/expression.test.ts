import { parse } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { Fraction } from '../../src/core/fraction.js';
import { celCell, celMap, celValue } from '../../src/rules/cel-values.js';
import { compileExpression, Evaluator, type Expression } from '../../src/rules/expression.js';

function compiled(text: string): Expression {
  const expression = compileExpression(text);
  if ('misuses' in expression) throw new Error(JSON.stringify(expression.misuses));
  return expression;
}

const FACTS = {
  member: celValue(
    parse('{"tokenBalance": 100, "id": 1190322117000000123, "level": null, "tags": ["a", "b"]}'),
  ),
  web3: celValue(parse('{"score": 2.5, "nfts": [{"id": "x", "held": 3}, {"id": "y", "held": 4}]}')),
  row: celMap([
    ['score', celCell('7')],
    ['name', celCell('Ada')],
    ['tier', celCell('1.0')],
    ['ones', celValue(parse('[1.0]'))],
    ['active', celCell('TRUE')],
    ['empty', celCell(' ')],
    ['id', celCell('119032211700000001')],
  ]),
  run: celMap([['weekday', 1n]]),
  balance: 100n,
};

const value = (text: string) => new Evaluator().evaluate(compiled(text), FACTS);

test('what cannot be among the others is a fault of the rule', () => {
  expect(compileExpression('"a" in [1, 2]')).toMatchObject({
    misuses: [{ message: expect.stringContaining('string in list<int>') }],
  });
});

test('a value that outgrows the engine is a fault of the expression', () => {
  const longer = Array.from({ length: 10 }, () => '.map(a, a + a + a + a + a + a + a + a)').join('');
  expect(value(`["abcdefgh"]${longer}[0].size() > 1`)).toMatchObject({
    kind: 'fault',
    message: expect.stringMatching(/too large.*string length/i),
  });
});

describe('what expressions give', () => {
  test.each([
    ['member.tokenBalance * 0.05', new Fraction(500n, 100n)],
    ['0.1 + 0.2 == 0.3', true],
    ['row.score == 7.0 && 6.99 < row.score && double(row.score) / 2 == 3.5', true],
    ['string(10 / 4.0) + " " + string(-1 / 3.0)', '2.5 -0.333333333333333…'],
    ['balance / 3', 33n],
    ['row.score + 1', 8n],
    ['row.active && row.name == "Ada"', true],
    ['web3.nfts.exists(n, n.held > 3)', true],
    ['size(web3.nfts.filter(n, n.held > 3))', 1n],
    ['min(row.score, 5)', 5n],
    ['max(web3.score, 1)', new Fraction(25n, 10n)],
    ['member.id == 1190322117000000123', true],
    ['row.id == "119032211700000001"', true],
    ['has(member.level) ? 1 : 0', 0n],
    ['run.weekday == 1', true],
    ['row["score"] > 6.5', true],
    ['row.tier in [1, 2]', true],
    ['!(row.tier in [1, 2])', false],
    ['row.tier in [2, 3]', false],
    ['row.score in [6.5, 7.0]', true],
    ['7.0 in [row.score]', true],
    ['balance in [99.5, 100.0]', true],
    ['1.0 in [1]', true],
    ['[row.score] in [[7.0]]', true],
    ['0.5 in [1 / 2.0]', true],
    ['row.tier in {1: "a"}', true],
    ['row.tier in {1.0: "a"} && 1 in row.ones', true],
    ['"score" in row && !("x" in row)', true],
    ['"a" in member.tags && row.name in ["Ada", 7.0]', true],
  ])('%s', (text, expected) => {
    expect(value(text)).toEqual({ kind: 'value', value: expected });
  });
});

describe('what a member lacks is told, never taken for zero', () => {
  test.each([
    ['member.nothing > 5', 'nothing'],
    ['member.level + 1', 'level'],
    ['row.empty == 0', 'empty'],
    ['web3.deep.inside > 1', 'deep'],
  ])('%s', (text, fact) => {
    const result = value(text);
    expect(result.kind).toBe('missing');
    expect(JSON.stringify(result)).toContain(fact);
  });

  test.each([
    'row.name + 1',
    'row.name > 5',
    '-row.active',
    'size(row.score)',
    '1 / (row.score - 7)',
    '1 / (row.score - 7.0)',
    'min(row.name, 1)',
    'row.score in row.name',
  ])('a wrong type or a division by zero is a fault: %s', (text) => {
    expect(value(text)).toMatchObject({ kind: 'fault' });
  });

  test('whole numbers beyond 64 bits are a fault, not a rounding', () => {
    expect(value('9223372036854775807 + row.score')).toMatchObject({ kind: 'fault' });
  });
});

describe('expressions are shut in', () => {
  test.each(['globalThis', 'process', 'require', 'console', 'this', 'Function', 'env'])(
    '%s is not there',
    (name) => {
      expect(compileExpression(`${name} == 1`)).toHaveProperty('misuses');
    },
  );

  test.each(['constructor', '__proto__', 'prototype', 'toString', 'hasOwnProperty'])(
    'member.%s is a fact that nobody has',
    (name) => {
      expect(value(`member.${name} == 1`)).toMatchObject({ kind: 'missing' });
    },
  );
});

describe('which facts an expression names', () => {
  const used = (text: string) => compiled(text).used;

  test('only those, with their fields', () => {
    expect(used('row.active && web3.nfts.exists(n, n.id == "x")')).toEqual({
      member: new Set(),
      web3: new Set(['nfts']),
      balance: false,
      row: new Set(['active']),
      run: new Set(),
    });
  });

  test('has() and an index count, and a whole record means all of it', () => {
    expect(used('has(member.level) && web3["score"] > 1').member).toEqual(new Set(['level']));
    expect(used('has(member.level) && web3["score"] > 1').web3).toEqual(new Set(['score']));
    expect(used('size(member) > 1').member).toBe('all');
    expect(used('balance > 5')).toMatchObject({ member: new Set(), balance: true });
  });
});
