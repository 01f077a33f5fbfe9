import { describe, expect, test } from 'vitest';
import { faultsOf, ruleText } from './rule-file.js';

const schedule = (cron: string, zone = 'UTC') =>
  `schedule:\n  cron: ${cron}\n  timezone: ${zone}\n  missed: once\nlimits:\n  perRun: 100`;
const SUM = Array.from({ length: 400 }, () => '1').join(' + ');
const NESTED = `${'('.repeat(32)}¦${'('.repeat(48)}1${')'.repeat(80)}`;

/** What the rule changes, with ¦ where the fault stands; the kind of fault; and what it says. */
type Bad = readonly [string, Readonly<Record<string, string>>, string, RegExp];

const FIELDS: readonly Bad[] = [
  [
    'an unknown field, with a hint',
    { x: '¦condtion: row.active' },
    'ALM_RULE_UNKNOWN_FIELD',
    /mean `condition`/,
  ],
  [
    'an unknown field inside another',
    { award: 'award:\n  tokens: 5\n  ¦rouding: floor' },
    'ALM_RULE_UNKNOWN_FIELD',
    /award\.rouding.*`rounding`/,
  ],
  [
    'a wrong type',
    { x: 'limits:\n  perRun: ¦many' },
    'ALM_RULE_FIELD',
    /limits\.perRun: expected number, got "many"/,
  ],
  [
    'a wrong word',
    { period: 'period: ¦fortnight' },
    'ALM_RULE_FIELD',
    /period: expected one of "once", "day"/,
  ],
  ['a missing field', { name: '¦name: thanks', reason: '' }, 'ALM_RULE_FIELD', /reason: is missing/],
  ['an award below one', { award: 'award:\n  tokens: ¦0' }, 'ALM_RULE_FIELD', /award\.tokens: expected/],
  [
    'neither tokens nor share',
    { award: 'award:\n  ¦rounding: floor' },
    'ALM_RULE_FIELD',
    /either `tokens` or `share`/,
  ],
  [
    'rounding of shares',
    { award: 'award:\n  share: { pot: 9, weight: row.score }\n  rounding: ¦floor' },
    'ALM_RULE_FIELD',
    /remove it/,
  ],
  ['a floor without a debit', { award: 'award:\n  tokens: 5\n  floor: ¦10' }, 'ALM_RULE_FIELD', /op: debit/],
  ['a transfer without a giver', { x: 'op: ¦transfer' }, 'ALM_RULE_FIELD', /from: is missing/],
  ['a giver without a transfer', { x: 'from: ¦"900"' }, 'ALM_RULE_FIELD', /only a transfer/],
  [
    'a cut at a limit that is not set',
    { x: 'limits:\n  cut: [¦perRun]' },
    'ALM_RULE_FIELD',
    /perRun is not set/,
  ],
  [
    'a fraction without rounding',
    { award: 'award:\n  ¦tokens: row.score * 1.5' },
    'ALM_RULE_FIELD',
    /award\.rounding: is missing/,
  ],
  [
    'a schedule without perRun',
    { x: 'schedule:\n  ¦cron: "0 9 * * 1"\n  missed: once' },
    'ALM_RULE_FIELD',
    /limits\.perRun: is missing/,
  ],
  [
    'cron nonsense',
    { x: schedule('¦every monday') },
    'ALM_RULE_CRON',
    /"every monday" is not a schedule.*five fields/,
  ],
  ['a cron that never comes', { x: schedule('¦"0 9 31 2 *"') }, 'ALM_RULE_CRON', /five fields/],
  [
    'time zone nonsense',
    { x: schedule('"0 9 * * 1"', '¦Mars/Olympus') },
    'ALM_RULE_TIMEZONE',
    /"Mars\/Olympus" is not a known time zone/,
  ],
  [
    'an offset, which knows no summer time',
    { x: 'timezone: ¦"+02:00"' },
    'ALM_RULE_TIMEZONE',
    /not a known time zone/,
  ],
];

const LOOKS: readonly Bad[] = [
  [
    'an amount that a screen shows in another order',
    { award: 'award:\n  tokens: 50 # ¦\u202e000\u202c' },
    'ALM_RULE_SYNTAX',
    /U\+202E RIGHT-TO-LEFT OVERRIDE.*"\\u202e"/,
  ],
  [
    'a line that only a screen shows',
    { x: '# harmless ¦\u2028condition: row.active' },
    'ALM_RULE_SYNTAX',
    /U\+2028 LINE SEPARATOR/,
  ],
];

const EXPRESSIONS: readonly Bad[] = [
  [
    'one that does not parse',
    { x: 'condition: row.score >¦' },
    'ALM_RULE_EXPRESSION',
    /condition: Unexpected token/,
  ],
  [
    'a place inside folded lines',
    { x: 'condition: >-\n  row.active &&\n  row.score > ¦nothing.here' },
    'ALM_RULE_EXPRESSION',
    /no fact nothing/,
  ],
  [
    'a place inside a literal block',
    { x: 'condition: |\n  row.active\n    && ¦nothing.here' },
    'ALM_RULE_EXPRESSION',
    /no fact nothing/,
  ],
  [
    'a place inside quotes',
    { x: 'condition: "row.active && ¦nothing.here"' },
    'ALM_RULE_EXPRESSION',
    /no fact nothing/,
  ],
  [
    'types that do not go together',
    { x: 'condition: \'row.active && ¦"yes" > 1\'' },
    'ALM_RULE_EXPRESSION',
    /do not go together: string > int/,
  ],
  [
    'a condition that is no yes or no',
    { x: 'condition: ¦5 + 1' },
    'ALM_RULE_EXPRESSION',
    /gives int, expected bool/,
  ],
  [
    'an award that is no number',
    { award: "award:\n  tokens: \"¦row.active ? 'a' : 'b'\"" },
    'ALM_RULE_EXPRESSION',
    /gives string, expected int or fraction/,
  ],
  [
    'a column that the audience lacks',
    { x: 'condition: ¦row.scroe > 1' },
    'ALM_RULE_EXPRESSION',
    /not have this column; it has member, score, active/,
  ],
  [
    'a part of the time that does not exist',
    { x: 'condition: ¦run.minute > 1' },
    'ALM_RULE_EXPRESSION',
    /no such field; expected at, date/,
  ],
  [
    'the environment',
    { x: 'condition: ¦process.env.HOME != ""' },
    'ALM_RULE_EXPRESSION',
    /There is no fact process/,
  ],
  ['a huge expression', { award: `award:\n  tokens: ¦${SUM}` }, 'ALM_RULE_EXPRESSION', /too large/],
  ['a deep expression', { award: `award:\n  tokens: ${NESTED}` }, 'ALM_RULE_EXPRESSION', /too large/],
  [
    'loops in loops in loops',
    { x: 'condition: "[1].all(a, [1].all(b, ¦[1].all(c, true)))"' },
    'ALM_RULE_EXPRESSION',
    /at most 2 deep/,
  ],
  [
    'a loop that hides a fact',
    { x: 'condition: "[1].all(¦row, true)"' },
    'ALM_RULE_EXPRESSION',
    /row is the name of a fact/,
  ],
  [
    'a binding that could double a list for ever',
    { x: 'condition: "¦cel.bind(x, [1], size(x) > 0)"' },
    'ALM_RULE_EXPRESSION',
    /namespace `cel`/,
  ],
  [
    'bytes, which no limit of memory counts',
    { x: 'condition: \'[¦b"abc"].map(a, a + a).size() > 0\'' },
    'ALM_RULE_EXPRESSION',
    /Bytes are not available/,
  ],
  [
    'bytes made of a text',
    { x: 'condition: "size(¦bytes(row.member)) > 0"' },
    'ALM_RULE_EXPRESSION',
    /Bytes are not available/,
  ],
];

const FILES: readonly Bad[] = [
  [
    'a missing audience',
    { audience: 'audience:\n  file: ¦nowhere.csv' },
    'ALM_RULE_FILE_MISSING',
    /There is no file "nowhere\.csv"/,
  ],
  ['a folder for an audience', { audience: 'audience:\n  file: ¦.' }, 'ALM_RULE_FILE_MISSING', /is a folder/],
  [
    'an audience that refers to its own rule',
    { audience: 'audience:\n  file: ¦rule.yaml' },
    'ALM_RULE_CIRCULAR',
    /in a cycle/,
  ],
  [
    'both a file and members',
    { audience: 'audience:\n  ¦file: audience.csv\n  members: [1]' },
    'ALM_RULE_FIELD',
    /either `file` or `members`/,
  ],
  [
    'a member who is no id',
    { audience: 'audience:\n  members: ["101", ¦bob]' },
    'ALM_RULE_FIELD',
    /audience\.members\[1\]: expected a member id/,
  ],
  ['broken YAML', { x: 'op: ¦credit: debit' }, 'ALM_RULE_SYNTAX', /./],
  [
    'an alias, which could blow up a file',
    { name: 'name: &x thanks', x: 'description: ¦*x' },
    'ALM_RULE_SYNTAX',
    /alias/,
  ],
  ['a field that stands twice', { x: '¦name: other' }, 'ALM_RULE_SYNTAX', /"name" occurs here twice/],
];

describe.each([
  ['fields', FIELDS],
  ['what is read and what is seen', LOOKS],
  ['expressions', EXPRESSIONS],
  ['files', FILES],
])('bad %s each give one clear fault with line and column', (_, table) => {
  test.each(table)('%s', async (_name, changes, code, message) => {
    const marked = ruleText(changes);
    const before = marked.slice(0, marked.indexOf('¦')).split('\n');
    const faults = await faultsOf(marked.replace('¦', ''));
    expect(faults).toMatchObject([{ line: before.length, column: (before.at(-1)?.length ?? 0) + 1, code }]);
    expect(faults[0]?.message).toMatch(message);
  });
});

describe('an audience', () => {
  test('audience files that refer to each other in a circle', async () => {
    const [fault] = await faultsOf(ruleText({ audience: 'audience:\n  file: a.yaml' }), {
      'a.yaml': 'file: b.yaml\n',
      'b.yaml': '# the way back\nfile: a.yaml\n',
    });
    expect(fault).toMatchObject({ line: 2, column: 7, code: 'ALM_RULE_CIRCULAR' });
    expect(fault?.file).toMatch(/b\.yaml$/);
    expect(fault?.message).toMatch(/a\.yaml → .*b\.yaml → .*a\.yaml/);
  });

  test('bad rows of a CSV name their line, all of them', async () => {
    const faults = await faultsOf(ruleText(), {
      'audience.csv': 'member,score\n101,5\n1.19E+18,7\n102,8\n101,9\n103\n',
    });
    expect(faults.map(({ line }) => line)).toEqual([3, 6]);
    expect(faults[0]?.message).toMatch(/scientific notation/);
    const twice = await faultsOf(ruleText(), { 'audience.csv': 'member\n101\n102\n101\n' });
    expect(twice[0]).toMatchObject({ line: 4, code: 'ALM_RULE_AUDIENCE' });
    expect(twice[0]?.message).toMatch(/is already on line 2/);
  });

  test('wallets to check need a column, and a wallet in every row', async () => {
    const checked = ruleText({ audience: 'audience:\n  file: audience.csv\n  checkWallets: true' });
    expect((await faultsOf(checked))[0]?.message).toMatch(/needs a column `wallet`/);
    const [empty] = await faultsOf(checked, { 'audience.csv': 'member,wallet\n101,0xa\n102,\n' });
    expect(empty).toMatchObject({ line: 3, code: 'ALM_RULE_AUDIENCE' });
  });

  test('all faults of a file are told at once', async () => {
    const faults = await faultsOf(
      ruleText({
        name: 'name: Not A Name',
        realm: '',
        more: 'colour: red',
        limits: 'limits:\n  perRun: 1.5',
      }),
    );
    expect(faults.map(({ code }) => code).sort()).toEqual(
      ['ALM_RULE_FIELD', 'ALM_RULE_FIELD', 'ALM_RULE_FIELD', 'ALM_RULE_UNKNOWN_FIELD'].sort(),
    );
  });
});
