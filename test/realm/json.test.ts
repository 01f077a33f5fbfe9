import { parse } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { plainJson, prettyJson } from '../../src/realm/json.js';

describe('a record for the outside', () => {
  const record = parse(
    '{"id":1190000000000000001,"n":5,"f":1.5,"zero":5.0,"deep":[{"big":12345678901234567890}]}',
  );

  it('has numbers where a number is exact, and text where it is not', () => {
    expect(plainJson(record)).toEqual({
      id: '1190000000000000001',
      n: 5,
      f: 1.5,
      zero: '5.0',
      deep: [{ big: '12345678901234567890' }],
    });
  });

  it('leaves every other object as it was, whatever its fields are called', () => {
    const hostile =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"n":[{"__proto__":{"polluted":1}}]}';
    plainJson(parse(hostile));
    prettyJson(parse(hostile));
    expect('polluted' in {}).toBe(false);
    expect(
      Reflect.get(Object(plainJson(parse('{"a":{"__proto__":{"isAdmin":true}}}'))), 'a').isAdmin,
    ).toBeUndefined();
  });

  it('is shown to a person digit by digit', () => {
    expect(prettyJson(record)).toContain('"id": 1190000000000000001');
  });
});
