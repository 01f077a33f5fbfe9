import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

type Judged = { readonly grave: boolean; readonly lines: readonly string[] };
const { judgeAudit } = z
  .object({
    judgeAudit: z.custom<(output: string, omitDev: boolean) => Judged>(
      (value) => typeof value === 'function',
    ),
  })
  .parse(await import(resolve('scripts/audit.mjs')));

/** What `npm audit --json` prints; audit.long.test.ts asks the real npm. */
function output(...severities: string[]): string {
  const counts = { info: 0, low: 0, moderate: 0, high: 0, critical: 0, total: severities.length };
  const found = severities.map((severity, at) => [
    `package-${at}`,
    { name: `package-${at}`, severity, range: '>=0' },
  ]);
  for (const severity of severities) Object.assign(counts, { [severity]: 1 });
  return JSON.stringify({
    vulnerabilities: Object.fromEntries(found),
    metadata: { vulnerabilities: counts },
  });
}

describe('the answer of npm audit', () => {
  test('without findings passes, and says what was asked about', () => {
    expect(judgeAudit(output(), true)).toEqual({
      grave: false,
      lines: ['audited: nothing is known against what is installed with the package'],
    });
    expect(judgeAudit(output(), false).lines[0]).toContain('tools for building and testing included');
  });

  test.each(['high', 'critical'])('with a finding of severity %s fails and names the package', (severity) => {
    const { grave, lines } = judgeAudit(output('low', severity), true);
    expect(grave).toBe(true);
    expect(lines).toEqual([
      'audited: 2 found in what is installed with the package',
      `  ${severity}: package-1 >=0`,
      '  low: package-0 >=0',
    ]);
  });

  test.each(['info', 'low', 'moderate'])('with a finding of severity %s shows it and passes', (severity) => {
    const { grave, lines } = judgeAudit(output(severity), true);
    expect([grave, lines[1]]).toEqual([false, `  ${severity}: package-0 >=0`]);
  });

  test.each([404, 405, 501])(
    'with the status %i says that there was no audit, and names no registry',
    (code) => {
      const { grave, lines } = judgeAudit(
        JSON.stringify({ statusCode: code, uri: 'http://registry.example/' }),
        true,
      );
      expect(grave).toBe(false);
      expect(lines).toEqual([
        `not audited: the registry does not offer it (HTTP ${code}) (what is installed with the package)`,
      ]);
    },
  );

  test.each(['', 'npm error network', '{}', 'null'])(
    'that is %j says that the registry did not answer',
    (text) => {
      expect(judgeAudit(text, true).lines[0]).toContain('not audited: the registry did not answer');
    },
  );
});
