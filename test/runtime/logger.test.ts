import { describe, expect, test } from 'vitest';
import { createLogger, registerSecret } from '../../src/runtime/logger.js';
import { createRedactor } from '../../src/runtime/redaction.js';

const CANARY = 'sk-live/c4n4ry+"quoted"\\slash&=ü';

function logging(secrets: readonly string[] = [CANARY]) {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'trace',
    secrets: () => secrets,
    destination: { write: (line) => lines.push(line) },
  });
  return { logger, lines };
}

/** Everything a library may have made of the canary. */
const SHAPES: Readonly<Record<string, string>> = {
  plain: CANARY,
  'in a sentence': `request with ${CANARY} failed`,
  twice: `${CANARY}${CANARY}`,
  'JSON inside a string': JSON.stringify({ header: `Bearer ${CANARY}` }),
  'JSON inside JSON': JSON.stringify(JSON.stringify({ header: CANARY })),
  'URL component': `https://h/?k=${encodeURIComponent(CANARY)}`,
  'URL component in lower case': encodeURIComponent(CANARY).toLowerCase(),
  'form field': new URLSearchParams({ k: CANARY }).toString(),
  base64: Buffer.from(CANARY).toString('base64'),
  base64url: Buffer.from(CANARY).toString('base64url'),
  'basic auth': Buffer.from(`user:${CANARY}`).toString('base64'),
  'basic auth with another offset': Buffer.from(`users:${CANARY}@`).toString('base64'),
  hexadecimal: Buffer.from(CANARY).toString('hex'),
};

/** Pieces long enough to give the canary away, in any of its spellings. */
function traces(text: string): readonly string[] {
  const spellings = Object.entries(SHAPES).filter(([name]) =>
    /^(plain|base64|base64url|hexadecimal)$/.test(name),
  );
  const marks = [...spellings.map(([, shape]) => shape.slice(3, -3)), 'c4n4ry', encodeURIComponent('c4n4ry')];
  return marks.filter((mark) => text.includes(mark));
}

describe('a registered secret appears in no line', () => {
  test.each(Object.entries(SHAPES))('%s', (_, shape) => {
    const { logger, lines } = logging();
    const error = new Error(`failed: ${shape}`, { cause: new Error(shape) });
    logger.info(shape);
    logger.info('text %s', shape);
    logger.info({ nested: { list: [1, { url: shape }] } }, 'nested');
    logger.info({ [shape]: 'as a field name' });
    logger.error(error);
    logger.error({ err: new AggregateError([error], shape), body: { inner: error } }, 'failed');
    logger
      .child({ bound: shape })
      .child({ deeper: { bound: shape } })
      .warn('child');
    expect(lines).toHaveLength(7);
    for (const line of lines) {
      expect(traces(line)).toEqual([]);
      expect(() => JSON.parse(line)).not.toThrow();
    }
    expect(lines[0]).toContain('[redacted]');
  });

  test('also one that is registered while the process runs', () => {
    const { logger, lines } = logging([]);
    logger.info('later-canary before');
    registerSecret('later-canary');
    logger.info('later-canary after');
    expect(lines[0]).toContain('later-canary before');
    expect(lines[1]).not.toContain('later-canary');
  });

  test('a secret of digits does not survive as a number', () => {
    const { logger, lines } = logging(['48151623']);
    logger.info({ pin: 48151623, list: [148151623] }, 'numbers');
    expect(lines.join('')).not.toContain('48151623');
  });

  test('a line that cannot be freed of a secret is withheld', () => {
    const { logger, lines } = logging(['redact']);
    logger.info('please redact this');
    logger.info('harmless');
    expect(lines[0]).toContain('withheld');
    expect(lines[0]).not.toContain('please');
    expect(lines[1]).toContain('harmless');
  });
});

describe('fields that hold secrets by their name', () => {
  test.each([
    'authorization',
    'Authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'apiKey',
    'api_key',
    'x-api-key',
    'key',
    'password',
    'token',
    'secret',
  ])('%s is redacted at any depth', (name) => {
    const { logger, lines } = logging([]);
    logger.info({ [name]: 'unregistered', request: { headers: { [name]: ['unregistered'] } } }, 'x');
    expect(lines[0]).not.toContain('unregistered');
  });

  test('ordinary fields stay: tokens are points', () => {
    const { logger, lines } = logging([]);
    logger.info({ tokens: 5, keyEnv: 'MAIN_KEY', order: 'b-1' }, 'x');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      tokens: 5,
      keyEnv: 'MAIN_KEY',
      order: 'b-1',
      msg: 'x',
    });
  });
});

test('a line end in a message does not make a second line', () => {
  const { logger, lines } = logging([]);
  logger.info('one\n{"level":"fatal","msg":"forged"}');
  expect(lines).toHaveLength(1);
  expect(lines[0]?.trimEnd()).not.toContain('\n');
});

test('without secrets a redactor changes nothing', () => {
  const value = { a: [1, null, true, 'x'], b: { c: 'y' } };
  expect(createRedactor(() => ['']).value(value)).toEqual(value);
});
