import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { loadRule } from '../../src/rules/load-rule.js';
import { ruleJsonSchema } from '../../src/rules/schema.js';
import { faultsOf, goodRule, ruleText } from './rule-file.js';

const SCHEMA_FILE = 'src/rules/rule.schema.json';
const samples = readdirSync('jobs').filter((name) => name.endsWith('.yaml'));

describe('the schema for editors', () => {
  test('is what the program itself goes by', () => {
    expect(JSON.parse(readFileSync(SCHEMA_FILE, 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(ruleJsonSchema())),
    );
  });

  test('says of every field what it is for', () => {
    const field = z.object({ description: z.string().min(5) });
    const { properties } = z.object({ properties: z.record(z.string(), field) }).parse(ruleJsonSchema());
    expect(Object.keys(properties)).toContain('award');
  });

  test.each(samples)('jobs/%s refers to it, and is a good rule for the rehearsal', async (name) => {
    const text = readFileSync(join('jobs', name), 'utf8');
    const named = /^# yaml-language-server: \$schema=(\S+)$/m.exec(text)?.[1] ?? '';
    expect(join(dirname(join('jobs', name)), named)).toBe(SCHEMA_FILE);
    const loaded = await loadRule(join('jobs', name));
    expect(loaded).toMatchObject({ rule: { realm: 'embedded' } });
  });

  test('there is a sample of each kind', () => {
    expect(samples).toEqual(['holders.yaml', 'penalty.yaml', 'pot.yaml', 'weekly.yaml']);
  });
});

describe('what an operator may write', () => {
  test('ids need no quotes, however long they are', async () => {
    const { audience } = await goodRule(
      ruleText({
        audience: 'audience:\n  members: [1190322117000000123, "12", 7, {member: 5, score: 3}]',
      }),
    );
    expect(audience.rows.map(({ member }) => member)).toEqual(['1190322117000000123', '12', '7', '5']);
    expect(audience.columns).toEqual(['member', 'score']);
    expect(audience.rows[3]?.cells).toEqual(['5', '3']);
  });

  test.each(['"0012"', '007', '{member: 05}'])('an id with a leading zero is refused: %s', async (id) => {
    const [fault] = await faultsOf(ruleText({ audience: `audience:\n  members: [${id}]` }));
    expect(fault?.message).toContain('member id');
  });

  test('an audience may lie in another file, CSV or YAML, in any of its ways', async () => {
    const { audience } = await goodRule(ruleText({ audience: 'audience:\n  file: lists/team.yaml' }), {
      'lists/team.yaml': 'file: team.csv\n',
      'lists/team.csv': 'sep=;\r\nuserId;name\r\n="119032211700000001";"Ada; the first"\r\n',
    });
    expect(audience.columns).toEqual(['member', 'name']);
    expect(audience.rows).toEqual([
      { member: '119032211700000001', line: 3, cells: ['="119032211700000001"', 'Ada; the first'] },
    ]);
  });

  test('what is not said is the careful choice', async () => {
    const { rule } = await goodRule(ruleText());
    expect(rule).toMatchObject({
      op: 'credit',
      zone: 'UTC',
      maxMissing: 0.05,
      condition: null,
      schedule: null,
    });
    expect(rule.cut.size).toBe(0);
  });
});
