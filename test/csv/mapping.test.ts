import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ColumnMap, parseColumnMap } from '../../src/csv/columns.js';
import { type ColumnWish, headerHash, type KeptColumns, NO_WISH } from '../../src/csv/mapping.js';
import { openSource } from '../../src/csv/open.js';
import { type ParsedSheet, parseSheet } from '../../src/csv/parse.js';
import type { FileFaults } from '../../src/csv/row.js';

const ID = '119283746501928374';

async function parse(text: string, wish: Partial<ColumnWish> = {}): Promise<ParsedSheet | FileFaults> {
  const source = await openSource('-', { stdin: Readable.from([text]) });
  onTestFinished(() => source.close());
  const rules = { realms: ['guild'], currency: null, maxTokensPerOrder: null };
  return parseSheet(source, { ...rules, wish: { ...NO_WISH, ...wish } });
}

/** What each column is taken for and by what, or the faults. */
async function taken(text: string, wish: Partial<ColumnWish> = {}): Promise<string[]> {
  const parsed = await parse(text, wish);
  if ('faults' in parsed) return parsed.faults.map(({ code, message }) => `${code} ${message}`);
  return (parsed.found?.columns ?? []).map(({ name, meaning, by }) => `${name}: ${meaning} ${by}`);
}

function keptUnder(header: readonly string[], map: ColumnMap) {
  const note: KeptColumns = { map, who: 'anna', at: 1 };
  return (keys: readonly string[]) =>
    Promise.resolve(keys.map((key) => (key === headerHash(header) ? note : null)));
}

describe('names like ours', () => {
  it.each([
    ['Discord ID', 'member'],
    ['User ID', 'member'],
    ['user-id', 'member'],
    ['Member Id', 'member'],
    ['Discord User ID', 'member'],
  ])('%s is taken for the member', async (name) => {
    expect(await taken(`${name},Points\n${ID},5\n`)).toEqual([`${name}: member like`, 'Points: tokens name']);
  });

  it('give way to a column that is called by name', async () => {
    expect(await taken(`Discord ID,member,tokens\n1,${ID},5\n`)).toEqual([
      'Discord ID: null null',
      'member: member name',
      'tokens: tokens name',
    ]);
  });

  it('two of them are a fault', async () => {
    const [fault, ...more] = await taken(`Discord ID,User ID,tokens\n${ID},${ID},5\n`);
    expect(fault).toMatch(
      /ALM_FILE_COLUMN_TWICE .*"Discord ID" and "User ID" both mean member.*--map member=/,
    );
    expect(more).toEqual([]);
  });

  it('a lone token is not taken for an amount', async () => {
    expect((await taken(`member,Token\n${ID},5\n`)).join()).toContain('ALM_FILE_COLUMN_MISSPELT');
  });
});

describe('a column that is missing', () => {
  it('is said with the header, and offered by what its cells hold', async () => {
    const [member, tokens] = await taken(`Name,Snow flake no,Level\nAnn,${ID},5\nBen,${ID},7.00\n`);
    expect(member).toContain('the header has "Name", "Snow flake no", "Level"');
    expect(member).toContain("One column looks like it: --map 'member=Snow flake no'.");
    expect(tokens).toContain('--map tokens=Level');
  });

  it('by wallet: the table is offered', async () => {
    expect((await taken('Wallet,Points\n0xab,5\n')).join()).toContain('--members FILE');
  });
});

describe('a title above the header', () => {
  const TITLED = `November airdrop,,\nmade by Ann,,\nUser ID,Points,Name\n${ID},5,x\n`;

  it('is found and named', async () => {
    expect((await taken(TITLED)).join()).toMatch(/line 3 looks like it: --header-line 3/);
  });

  it('is left out where the line is said; the lines of rows stay those of the file', async () => {
    const parsed = await parse(TITLED, { headerLine: 3 });
    if ('faults' in parsed) throw new Error('faults');
    const rows = [];
    for await (const block of parsed.blocks) rows.push(...block);
    expect(rows).toMatchObject([{ kind: 'order', line: 4, order: { member: ID, tokens: 5 } }]);
  });

  it('a line on which no row begins is refused', async () => {
    expect((await taken(TITLED, { headerLine: 9 })).join()).toContain('ALM_FILE_HEADER_LINE');
  });
});

describe('what is said of columns', () => {
  const FILE = `Who,Score\n${ID},5\n`;
  const MAP = parseColumnMap(['member=Who', 'tokens=Score']);

  it('is taken, and marked as said', async () => {
    expect(await taken(FILE, { map: MAP })).toEqual(['Who: member said', 'Score: tokens said']);
  });

  it('is taken from what was kept under the same header, in any order of its columns', async () => {
    const kept = keptUnder(['Score', 'who '], MAP);
    expect(await taken(FILE, { kept })).toEqual(['Who: member kept', 'Score: tokens kept']);
    expect((await taken(`Who,Score,More\n${ID},5,1\n`, { kept })).join()).toContain('COLUMN_MISSING');
  });

  it('a header that was kept is found below a title', async () => {
    const kept = keptUnder(['Who', 'Score'], MAP);
    for (const title of ['Title', 'Title\nmade by Ann', 'Title,,\n,,\nby Ann,,'])
      expect(await taken(`${title}\n${FILE}`, { kept })).toEqual(['Who: member kept', 'Score: tokens kept']);
  });

  it('what is said now wins over what was kept, and that over the profile', async () => {
    const kept = keptUnder(['A', 'B', 'C'], parseColumnMap(['member=A', 'tokens=B']));
    const usual = parseColumnMap(['member=A', 'tokens=C']);
    const file = `A,B,C\n${ID},5,6\n`;
    const said = parseColumnMap(['member=A', 'tokens=C']);
    expect((await taken(file, { kept, usual, map: said }))[2]).toBe('C: tokens said');
    expect((await taken(file, { kept, usual }))[1]).toBe('B: tokens kept');
    expect((await taken(file, { usual }))[2]).toBe('C: tokens profile');
  });

  it('the profile’s names are taken where the header has them', async () => {
    const usual = parseColumnMap(['tokens=Punkte']);
    expect(await taken(`member,Punkte\n${ID},5\n`, { usual })).toContain('Punkte: tokens profile');
    expect(await taken(`member,tokens\n${ID},5\n`, { usual })).toContain('tokens: tokens name');
  });

  it('a header line, or a word on another column, leaves what was kept', async () => {
    const kept = keptUnder(['Who', 'Score', 'points', 'Why'], MAP);
    const file = `Who,Score,points,Why\n${ID},5,9000,x\n`;
    const titled = await parse(`Title\n${file}`, { kept, headerLine: 2 });
    expect(titled.found?.columns[1]).toMatchObject({ meaning: 'tokens', by: 'kept' });
    expect(titled.found?.said).toEqual(MAP);
    const more = await parse(file, { kept, map: parseColumnMap(['reason=Why']) });
    expect(more.found?.columns[1]).toMatchObject({ meaning: 'tokens', by: 'kept' });
    expect(more.found?.columns[2]).toMatchObject({ meaning: null });
    expect(more.found?.said).toEqual(new Map([...MAP, ['reason', 'Why']]));
    const moved = await parse(file, { kept, map: parseColumnMap(['reason=Score']) });
    expect(moved.found?.columns[1]).toMatchObject({ meaning: 'reason', by: 'said' });
  });

  it.each([
    ['a header of our names', `member,tokens,reason\n${ID},111,a\n`],
    ['rows with ids', `Wer,Gabe,Name\n${ID},111,a\n`],
    ['rows as wide', 'Wer,Gabe\nann,111\n'],
  ])('a kept header is not looked for below %s', async (_, above) => {
    const kept = keptUnder(['Who', 'Score'], MAP);
    const parsed = await parse(`${above}${FILE}`, { kept });
    expect(parsed.found?.headerLine).toBe(1);
  });

  it('is found again where only the names said which delimiter it is', async () => {
    const map = parseColumnMap(['member=Nick', 'tokens=XP, a, b, c']);
    const kept = keptUnder(['Nick', 'XP, a, b, c'], map);
    expect(await taken(`Nick;XP, a, b, c\n${ID};5\n`, { kept })).toEqual([
      'Nick: member kept',
      'XP, a, b, c: tokens kept',
    ]);
  });

  it('a name that stands twice says nothing, whoever gives it', async () => {
    const file = `member,points,points\n${ID},5,900\n`;
    const map = parseColumnMap(['tokens=points']);
    expect((await taken(file, { map })).join()).toContain('ALM_FILE_COLUMN_TWICE');
    expect((await taken(file, { usual: map })).join()).toContain('ALM_FILE_COLUMN_TWICE');
  });

  it('a stray quote in a row is no fault of the header', async () => {
    const parsed = await parse(`member,tokens,note\n${ID},5,a"b\n${ID},6,"x\n`);
    expect('faults' in parsed).toBe(false);
  });

  it('closing one meaning leaves those closed that were kept so', async () => {
    const kept = keptUnder(
      ['Who', 'Score', 'to', 'note'],
      parseColumnMap(['member=Who', 'tokens=Score', 'recipient=']),
    );
    const parsed = await parse(`Who,Score,to,note\n${ID},5,x,y\n`, {
      kept,
      map: parseColumnMap(['reason=']),
    });
    expect(parsed.found?.columns.map(({ meaning }) => meaning)).toEqual(['member', 'tokens', null, null]);
  });

  it('rows of our own reports are known by the header of their file', () => {
    expect(headerHash(['Who', 'Score', 'almoner_order', 'almoner_error'])).toBe(headerHash(['Who', 'Score']));
  });
});
