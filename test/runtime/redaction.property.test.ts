import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/runtime/logger.js';
import { generated } from '../support/suites.js';

test('a secret appears in no line of the log, whatever it is made of', () => {
  const secrets = fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme' });
  fc.assert(
    fc.property(secrets, fc.nat(4), (secret, offset) => {
      const lines: string[] = [];
      const logger = createLogger({
        level: 'trace',
        secrets: () => [secret],
        destination: { write: (line) => lines.push(line) },
      });
      const basic = Buffer.concat([Buffer.alloc(offset, 'u'), Buffer.from(`:${secret}`)]).toString('base64');
      logger.info(
        { a: secret, b: [encodeURIComponent(Buffer.from(secret).toString())], c: basic },
        `x ${secret} y`,
      );
      const entry: unknown = JSON.parse(lines[0] ?? '');
      expect(JSON.stringify(entry)).not.toContain(JSON.stringify(secret).slice(1, -1));
      expect(entry).not.toHaveProperty('c', basic);
    }),
    generated(40, 200),
  );
});
