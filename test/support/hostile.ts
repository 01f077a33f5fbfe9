import fc from 'fast-check';

/** Values that an attacker may send: inputs that have broken programs before, and random ones. */

const HOSTILE_TEXTS = [
  '',
  ' ',
  '..',
  '../../../../etc/passwd',
  '..\\..\\windows\\win.ini',
  '/etc/passwd',
  '%2e%2e%2f',
  '%00',
  '\u0000',
  'a\r\nset-cookie: x=1',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '-1',
  '1e309',
  '0x10',
  '9'.repeat(400),
  'last',
  '*',
  '[a-z]*',
  '{x}',
  '$(id)',
  '`id`',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '=HYPERLINK("http://x")',
  '#{7*7}',
  '\ud800',
  '\u202e',
  'é'.repeat(150),
  'A'.repeat(5_000),
] as const;

/** Script arguments: numbers of every shape, and strings that are not numbers. */
export const HOSTILE_ARGUMENTS: readonly string[] = [
  '',
  '0',
  '-1',
  '1.5',
  '01',
  ' 1',
  '1 ',
  '+1',
  '9',
  '257',
  '4294967297',
  '1e3',
  '1e21',
  '1e308',
  '-1e308',
  'nan',
  'inf',
  '-inf',
  '0x1',
  '99999999999999999999',
  'abc',
  'null',
  '[]',
  '{}',
  '*',
  ':',
  '|',
  '\u0000',
  'x'.repeat(5_000),
];

/**
 * Any characters, including unpaired surrogates. fast-check's unit `binary` would first build a table of a million
 * entries.
 */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc
    .array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength })
    .map((points) => String.fromCodePoint(...points));
}

export const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  anyText(60),
  fc.string({ unit: 'grapheme-ascii', maxLength: 60 }),
);

const hostileNumber = fc.oneof(
  fc.constantFrom(0, -0, -1, 1, 0.5, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 1e21, 1e308, 5e-324),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const list = (length: number) => Array.from({ length }, (_, i) => i);

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  hostileNumber,
  fc.constantFrom(null, true, false),
  fc.constant(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')),
  fc.constant(list(2_000)),
  fc.jsonValue({ maxDepth: 3 }),
);

/** JSON texts that no serializer produces. */
export const hostileJson = fc.oneof(
  fc.constantFrom(
    '',
    '{',
    'null',
    '[]',
    '""',
    '0',
    '{"__proto__":{"polluted":1}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"a":1e400}',
    `{"a":${'9'.repeat(5_000)}}`,
    `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
    `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
    '{"a":1,"a":2}',
    '\ufeff{}',
    '{"a":"\\ud800"}',
  ),
  anyText(200),
);
