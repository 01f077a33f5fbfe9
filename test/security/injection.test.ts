import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { dataFolders } from '../support/data-folder.js';
import { almoner, type Ran } from '../support/program/almoner.js';

/** A realm and a file with texts made to deceive their readers. */
const EVIL =
  'no\u001b[31m\u001b]0;title\u0007\r\nerror: ALM_FORGED: all was paid\u0085\u2028\u202e\u009b31m\u0000 <script>alert(1)</script>';
/** A NUL byte is refused with the whole file. */
const CELL = EVIL.replaceAll('\u0000', '');
const OBEYED = /\u001b|\u0007|\u0000|\r|[\u0080-\u009f\u2028\u202e]/;

let realm: Server;
let url = '';
const asked: IncomingMessage[] = [];
beforeAll(async () => {
  realm = createServer((request, response) => {
    asked.push(request);
    request.resume();
    response.writeHead(request.method === 'GET' ? 200 : 422, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: EVIL, message: EVIL, name: EVIL, requestId: EVIL }));
  }).listen(0, '127.0.0.1');
  await once(realm, 'listening');
  const address = realm.address();
  url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
});
afterAll(() => {
  realm.closeAllConnections();
  realm.close();
});

const folders = dataFolders();

async function operator(): Promise<{ cwd: string; run(...args: string[]): Promise<Ran> }> {
  const cwd = await folders();
  const env = {
    ALMONER_DATA: cwd,
    ALMONER_REPORTS: join(cwd, 'reports'),
    ALMONER_REALM_URL: url,
    ALMONER_REALM_ID: 'fen',
    ALMONER_API_KEY: 'a-key-of-the-fen-0123456789',
    ALMONER_RATE: 'none',
  };
  return { cwd, run: (...args) => almoner(args, { cwd, env }) };
}

describe('what strangers write', () => {
  test('forges no line and commands no terminal: a realm’s words, a cell, a file’s name, an argument', async () => {
    const { cwd, run } = await operator();
    const name = 'ev\u001b[31mil\n\u202e.csv';
    await writeFile(join(cwd, name), `member,tokens,reference,reason\n1,5,r1,"${CELL}"\n2,6,r2,x\n`);
    await writeFile(join(cwd, 'bad.csv'), `mem\u001b[31mber,tokens\n"${EVIL}",y\n`);
    const paid = await run('run', name, '--yes', '--log-level', 'trace');
    expect(paid.status, paid.stderr).toBe(4);
    const listed = await run('dead', 'list', '--all', '--json');
    const [order] = z
      .object({ orders: z.array(z.object({ order: z.string() })) })
      .parse(JSON.parse(listed.stdout)).orders;
    const said = [paid, listed];
    for (const args of [
      ['status'],
      ['status', 'last'],
      ['status', CELL],
      ['dead', 'list', '--all'],
      ['dead', 'show', order?.order ?? ''],
      ['member', '1'],
      ['history', '1'],
      ['plan', 'bad.csv'],
      ['plan', `no\u001b[31mne\r.csv`],
      ['dead', 'discard', order?.order ?? '', '--reason', CELL],
      [CELL],
      ['run', name, '--again', CELL, '--yes'],
    ])
      said.push(await run(...args));
    const text = said.map(({ stdout, stderr }) => `${stdout}\n${stderr}`).join('\n');
    expect(text).toContain('ALM_FORGED');
    expect(text.split('\n').filter((line) => OBEYED.test(line))).toEqual([]);
    expect(text).not.toMatch(/^error: ALM_FORGED/m);
  });

  test('neither a reference nor a reason reaches a header, and one with a line end is refused', async () => {
    const { cwd, run } = await operator();
    await writeFile(join(cwd, 'a.csv'), 'member,tokens,reference\n1,5,"r1\r\nx-injected: 1"\n');
    const refused = await run('run', 'a.csv', '--yes');
    expect(refused.status).toBe(3);
    expect(refused.stdout).toContain('ALM_ROW_REFERENCE_INVALID');
    await writeFile(join(cwd, 'b.csv'), 'member,tokens,reference,reason\n1,5,r:1 / x,"y\nx-injected: 1"\n');
    asked.length = 0;
    expect((await run('run', 'b.csv', '--yes')).status).toBe(4);
    expect(asked).toHaveLength(1);
    const headers = asked[0]?.headers ?? {};
    expect(Object.keys(headers).filter((header) => header.includes('inject'))).toEqual([]);
    expect(JSON.stringify(headers)).not.toContain('r:1');
    expect(headers['idempotency-key']).toMatch(/^"[0-9a-z]+-1\.1"$/);
  });

  test('a report shows it as text: no line of a CSV more than there are rows, no script in the page', async () => {
    const { cwd, run } = await operator();
    await writeFile(join(cwd, 'a.csv'), 'member,tokens,reference,reason\n1,5,r1,=HYPERLINK("http://x")\n');
    const ran = await run('run', 'a.csv', '--yes', '--json');
    const { report } = z.object({ report: z.string() }).parse(JSON.parse(ran.stdout));
    const results = readFileSync(join(report, 'results.csv'), 'utf8').trim().split('\n');
    expect(results).toHaveLength(2);
    expect(results[1]).toContain(`"'=HYPERLINK`);
    expect(readFileSync(join(report, 'report.html'), 'utf8')).not.toContain('<script>alert');
  });
});

describe('where the key may travel', () => {
  test.each([
    ['another scheme', 'file:///etc/passwd'],
    ['another scheme', 'gopher://127.0.0.1/'],
    ['credentials', 'http://user:secret@127.0.0.1/'],
    ['a query', 'http://127.0.0.1/?x=1'],
    ['a fragment', 'http://127.0.0.1/#x'],
  ])('not to a base URL with %s', async (_, address) => {
    const cwd = await folders();
    const env = {
      ALMONER_DATA: cwd,
      ALMONER_REALM_URL: address,
      ALMONER_REALM_ID: 'x',
      ALMONER_API_KEY: 'k'.repeat(24),
    };
    const ran = await almoner(['member', '1'], { cwd, env });
    expect(ran.status).toBe(2);
    expect(ran.stderr).not.toContain('secret');
  });

  test('not to where a realm redirects, for reads and for payments alike', async () => {
    const arrived: string[] = [];
    const other = createServer((request, response) => {
      arrived.push(String(request.headers.authorization));
      response.end('{"newBalance":5}');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const place = other.address();
    const target = `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}/`;
    const redirecting = createServer((request, response) => {
      request.resume();
      response.writeHead(307, { location: target }).end();
    }).listen(0, '127.0.0.1');
    await once(redirecting, 'listening');
    const here = redirecting.address();
    const cwd = await folders();
    const env = {
      ALMONER_DATA: cwd,
      ALMONER_REPORTS: join(cwd, 'reports'),
      ALMONER_REALM_URL: `http://127.0.0.1:${typeof here === 'object' && here !== null ? here.port : 0}`,
      ALMONER_REALM_ID: 'x',
      ALMONER_API_KEY: 'k'.repeat(24),
      ALMONER_RATE: 'none',
    };
    await writeFile(join(cwd, 'a.csv'), 'member,tokens\n1,5\n');
    const read = await almoner(['member', '1'], { cwd, env });
    expect(read.stderr).toContain('ALM_REALM_REDIRECTED');
    const paid = await almoner(['run', 'a.csv', '--yes', '--json'], { cwd, env });
    expect(paid.status, paid.stdout).not.toBe(0);
    expect(arrived).toEqual([]);
    for (const server of [other, redirecting]) {
      server.closeAllConnections();
      server.close();
    }
  });
});
