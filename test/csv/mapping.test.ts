import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ColumnMap, parseColumnMap } from '../../src/csv/columns.js';
import type { KeptColumns } from '../../src/csv/kept-columns.js';
import { type ColumnOptions, headerHash, NO_COLUMN_OPTIONS } from '../../src/csv/mapping.js';
import { openSource } from '../../src/csv/open.js';
import { type ParsedSheet, parseSheet } from '../../src/csv/parse.js';
import type { FileFaults } from '../../src/csv/row.js';

const ID = '119283746501928374';

async function parse(text: string, wish: Partial<ColumnOptions> = {}): Promise<ParsedSheet | FileFaults> {
  const source = await openSource('-', { stdin: Readable.from([text]) });
  onTestFinished(() => source.close());
  const rules = { realms: ['guild'], currency: null, maxTokensPerOrder: null };
  return parseSheet(source, { ...rules, wish: { ...NO_COLUMN_OPTIONS, ...wish } });
}

/** What each column is taken for and by what, or the faults. */
async function taken(text: string, wish: Partial<ColumnOptions> = {}): Promise<string[]> {
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
    expect((await taken(TITLED)).join()).toMatch(/line 3 looks like one\. Use --header-line 3/);
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
    const kept = keptUnder(['Who', 'Score', 'Level', 'Why'], MAP);
    const file = `Who,Score,Level,Why\n${ID},5,9000,x\n`;
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
    ['rows of handles with fewer columns', 'Wer,Gabe\nann,111\n'],
    ['rows of another delimiter', 'Wer;Gabe\nann;111\n'],
    ['one row', 'ann,111\n'],
    ['a line with a stray quote', 'a"b,"\n'],
  ])('a kept header is not looked for below %s', async (_, above) => {
    const kept = keptUnder(['Who', 'Score'], MAP);
    const parsed = await parse(`${above}${FILE}`, { kept });
    expect(parsed.found?.headerLine ?? 1).toBe(1);
  });

  it.each([
    ['two exports with handles', `Nick,Points,Level\nann,111,1\nben,112,1\nWho,Score,Level\ncleo,5,1\n`, 4],
    ['rows before the header', `ann,111,x\nben,112,x\nWho,Score,Level\ncleo,5,1\n`, 3],
  ])('%s: no row is left out without a word', async (_, file, line) => {
    const kept = keptUnder(['Who', 'Score', 'Level'], MAP);
    expect((await taken(file, { kept })).join()).toMatch(
      new RegExp(`line ${line} looks like one\\. Use --header-line ${line}`),
    );
    for (const wish of [{ kept }, { map: MAP }])
      expect(await taken(file, { ...wish, headerLine: line })).toEqual([
        expect.stringMatching(
          new RegExp(
            `^ALM_FILE_ROWS_ABOVE 2 lines look like rows above the header on line ${line}, .*: ${line === 4 ? '2, 3' : '1, 2'}\\.$`,
          ),
        ),
      ]);
  });

  it('a line that can be a row is one by whatever delimiter; a title is none', async () => {
    const table = `Who,Score,Level\ncleo,5,1\n`;
    const above = async (text: string) =>
      (await taken(`${text}\n${table}`, { map: MAP, headerLine: 2 })).join();
    for (const row of ['ann;111;1', 'ann,"1.000",1', 'ann,1e3,', '0xab,٣,1,more'])
      expect(await above(row)).toContain('ALM_FILE_ROWS_ABOVE 1 line looks like a row');
    for (const title of ['Week 46,,', 'Report of 2026-11-20', 'Rewards, week 46', 'Person,Game,'])
      expect(await above(title)).toContain('Score: tokens said');
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
      ['Who', 'Score', 'To Member', 'note'],
      parseColumnMap(['member=Who', 'tokens=Score', 'recipient=']),
    );
    const parsed = await parse(`Who,Score,To Member,note\n${ID},5,x,y\n`, {
      kept,
      map: parseColumnMap(['reason=']),
    });
    expect(parsed.found?.columns.map(({ meaning }) => meaning)).toEqual(['member', 'tokens', null, null]);
  });

  describe('and kept never closes or moves a column that bears the name of a meaning', () => {
    const effects = async (header: string, map: readonly string[], now: readonly string[] = []) => {
      const kept = keptUnder(header.split(','), parseColumnMap(map));
      const cells = header.split(',').map((name) => (name === 'member' ? ID : '5'));
      const parsed = await parse(`${header}\n${cells.join(',')}\n`, { kept, map: parseColumnMap(now) });
      const pairs = parsed.found?.kept?.pairs ?? [];
      const taken = (parsed.found?.columns ?? []).map(({ meaning }) => meaning ?? '-');
      return [pairs.map(({ effect }) => effect).join(), taken.join()];
    };
    it.each([
      ['member,tokens,reference', ['reference='], 'refused', 'member,tokens,reference'],
      ['member,tokens,op', ['op='], 'refused', 'member,tokens,op'],
      ['member,tokens,realm', ['realm='], 'refused', 'member,tokens,realm'],
      ['member,tokens,currency', ['currency='], 'refused', 'member,tokens,currency'],
      ['member,tokens,to', ['recipient='], 'refused', 'member,tokens,recipient'],
      ['member,points,Score', ['tokens=Score'], 'refused', 'member,tokens,-'],
      ['member,user_id,tokens', ['reason=user_id'], 'refused', 'member,-,tokens'],
      ['member,points,tokens', ['tokens=points'], 'refused', 'member,tokens,-'],
      ['member,tokens,reference', ['reason=reference'], 'refused', 'member,tokens,reference'],
      ['member,tokens,Bill', ['reference=Bill'], 'changes', 'member,tokens,reference'],
      ['User ID,Foo,tokens', ['member=Foo'], 'changes', '-,member,tokens'],
      ['Who,Score', ['member=Who', 'tokens=Score'], 'fills,fills', 'member,tokens'],
      ['member,tokens,Why', ['recipient=', 'tokens=tokens'], 'none,none', 'member,tokens,-'],
    ])('%s, kept %j: %s', async (header, map, effect, taken) => {
      expect(await effects(header, map)).toEqual([effect, taken]);
    });

    it('and is taken where it is said again', async () => {
      expect(await effects('member,tokens,reference', ['reference='], ['reference='])).toEqual([
        '',
        'member,tokens,-',
      ]);
    });
  });

  it('rows of our own reports are known by the header of their file', () => {
    expect(headerHash(['Who', 'Score', 'almoner_order', 'almoner_error'])).toBe(headerHash(['Who', 'Score']));
  });
});
