import { describe, expect, it } from 'vitest';
import { type ColumnMap, parseColumnMap } from '../../src/csv/columns.js';
import { nearlyNamed } from '../../src/csv/misspelt.js';
import { readBytes } from './read-file.js';

const codes = (findings: readonly { code: string }[]) => findings.map((finding) => finding.code);

describe('--map', () => {
  it('names a column, also one that holds a delimiter of another kind', async () => {
    const map = parseColumnMap(['tokens=Punkte', 'member=Discord, ID']);
    const reading = await readBytes('Name;Discord, ID;Punkte\nAnn;119;5\n', { map });
    expect(reading.faults).toEqual([]);
    expect(reading.rows[0]).toMatchObject({ order: { op: 'credit', member: '119', tokens: 5 } });
  });

  it('outweighs an alias in the same header', async () => {
    const reading = await readBytes('member,amount,bonus\n119,1000,5\n', {
      map: parseColumnMap(['tokens=bonus']),
    });
    expect(reading.rows[0]).toMatchObject({ order: { tokens: 5 } });
  });

  it('is a fault where the header has no such column', async () => {
    const reading = await readBytes('member,tokens\n119,5\n', { map: parseColumnMap(['reason=Grund']) });
    expect(codes(reading.faults)).toEqual(['ALM_FILE_MAP']);
    expect(reading.faults[0]?.message).toContain('it has "member", "tokens"');
  });

  it('takes no column where nothing stands behind the sign', async () => {
    const file = 'member,tokens,recipient,note,realms\n119,5,someone,x,y\n';
    const map = parseColumnMap(['recipient=', 'reason=', 'realm=']);
    const reading = await readBytes(file, { map });
    expect(reading.faults).toEqual([]);
    expect(reading.rows[0]).toMatchObject({ order: { op: 'credit', member: '119' }, reason: null });
  });

  it.each(['Punkte', '=Punkte', 'op', 'punkte=tokens', 'tokens='])('refuses %j as usage', (text) => {
    expect(() => parseColumnMap([text])).toThrow(/expected MEANING=COLUMN/);
  });

  it('refuses one meaning twice and one column for two', () => {
    expect(() => parseColumnMap(['tokens=a', 'tokens=b'])).toThrow(/twice/);
    expect(() => parseColumnMap(['tokens=a', 'reason=A'])).toThrow(/two meanings/);
  });
});

describe('nearly right names', () => {
  it.each(['token', 'membr', 'memberd', 'recipent', 'refernce', 'pionts', 'amout', 'reasn', 'relam'])(
    '%s is taken for a typing error',
    (name) => {
      expect(nearlyNamed(name)).toBeDefined();
    },
  );

  it.each([
    'membership',
    'name',
    'amount_usd',
    'season',
    'region',
    'number',
    'count',
    'person',
    'account',
    'preference',
    'username',
    'email',
    'team',
    'in_member',
    'balance',
  ])('%s is a column of its own', (name) => {
    expect(nearlyNamed(name)).toBeUndefined();
  });

  it('are left alone where the right name stands in the header too', async () => {
    const reading = await readBytes('member,members,tokens,token\n119,x,5,y\n');
    expect(reading.faults).toEqual([]);
  });

  it('are faults with the suggestion', async () => {
    const reading = await readBytes('membr,tokens\n119,5\n');
    expect(reading.faults[0]?.message).toContain('"membr" is nearly member');
    expect(reading.faults).toHaveLength(1);
  });
});

describe('columns of our own reports', () => {
  it('leave the sheet, and almoner_order says what a row replaces', async () => {
    const reading = await readBytes(
      'almoner_state,member,almoner_order,tokens,almoner_error_code,name,almoner_error,almoner_sent_at,almoner_key\nrefused,119,b7k2m9-3,5,X,Ann,no,2026-03-01,k\n',
    );
    expect(reading.sheet?.header).toEqual(['member', 'tokens', 'name']);
    expect(reading.rows).toMatchObject([{ kind: 'order', replaces: 'b7k2m9-3', cells: ['119', '5', 'Ann'] }]);
  });

  it('defused cells are read back as they were, header cells too', async () => {
    const reading = await readBytes(`'=x,member,tokens,reason\n'+1,119,'-5,''=1\n`);
    expect(reading.sheet?.header).toEqual(['=x', 'member', 'tokens', 'reason']);
    expect(reading.rows).toMatchObject([
      { order: { op: 'debit' }, reason: "'=1", cells: ['+1', '119', '-5', "'=1"] },
    ]);
  });
});

describe('rows that do not fit the header', () => {
  it('keep all their text when they are carried along as invalid', async () => {
    const { rows } = await readBytes('member,tokens,name\n119,1,000,Ann\n119,5\n');
    expect(rows).toMatchObject([
      { kind: 'invalid', cells: ['119', '1', '000,Ann'] },
      { kind: 'invalid', cells: ['119', '5', ''] },
    ]);
  });
});

describe('a currency column', () => {
  const file = 'member,tokens,currency\n1,5,gold\n2,6,\n3,7, gold \n4,8,gems\n';
  const found = ({ faults }: Awaited<ReturnType<typeof readBytes>>) =>
    faults.map(({ line, column, code }) => `${line}:${column}:${code}`);

  it('is a check: each filled cell must name the currency of the run', async () => {
    expect(found(await readBytes(file, { currency: 'gold' }))).toEqual(['5:currency:ALM_ROW_CURRENCY_OTHER']);
    const map: ColumnMap = new Map([['currency', 'Währung']]);
    const mapped = { currency: 'gold', map };
    expect(found(await readBytes(file.replace('currency', 'Währung'), mapped))).toEqual([
      '5:Währung:ALM_ROW_CURRENCY_OTHER',
    ]);
  });

  it('must be empty where the run has no currency of its own, and the fault says so', async () => {
    const reading = await readBytes(file);
    expect(found(reading)).toEqual([2, 4, 5].map((line) => `${line}:currency:ALM_ROW_CURRENCY_OTHER`));
    expect(reading.faults[0]?.message).toContain('default currency');
    expect(found(await readBytes('member,tokens,currency\n1,5,\n'))).toEqual([]);
  });

  it('is no part of the identity of the rows, and comes back as it was', async () => {
    const [with_, without] = await Promise.all([
      readBytes('member,tokens,currency\n1,5,gold\n', { currency: 'gold' }),
      readBytes('member,tokens\n1,5\n', { currency: 'gold' }),
    ]);
    expect(with_.through?.sha256).toBe(without.through?.sha256);
    expect(with_.rows).toMatchObject([{ cells: ['1', '5', 'gold'] }]);
  });
});

it('a file with several limits: each is refused by name', async () => {
  const file = 'member,tokens\n1,5\n2,6\n3,7\n';
  expect(codes((await readBytes(file, { limits: { rowsMax: 2 } })).faults)).toEqual([
    'ALM_FILE_TOO_MANY_ROWS',
  ]);
  expect(codes((await readBytes(file, { limits: { rowsMax: 3 } })).faults)).toEqual([]);
  expect(codes((await readBytes(file, { limits: { columnsMax: 1 } })).faults)).toEqual([
    'ALM_FILE_TOO_MANY_COLUMNS',
  ]);
  expect(codes((await readBytes(file, { limits: { recordBytesMax: 5 } })).faults)).toEqual([
    'ALM_FILE_RECORD_TOO_LARGE',
  ]);
});
