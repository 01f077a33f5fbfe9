import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { onDisk } from '../support/on-disk.js';
import type { Ran } from '../support/program/almoner.js';
import { ask } from '../support/program/desk.js';
import { type Stranger, stranger } from '../support/program/stranger.js';
import { codeUnder } from '../support/readme.js';
import { endServerOf } from '../support/store-program.js';

/** The package as npm makes it, installed for a user who has nothing else of ours, used in an empty folder. */
// An install is too large for memory.
onDisk();

let folder: string;
let empty: string;
let user: Stranger;
let packed: string[] = [];
const packageFolder = () => join(user.prefix, 'lib', 'node_modules', 'almoner');
const all = (ran: Ran) => `${ran.stdout}\n${ran.stderr}`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'almoner-package-'));
  user = stranger(join(folder, 'home'));
  empty = join(folder, 'empty');
  mkdirSync(empty);
  const made = await user.shell(`npm pack --json --pack-destination '${folder}'`, resolve('.'));
  expect(made.status, all(made)).toBe(0);
  packed = filesOf(made.stdout);
  const installed = await user.shell('npm i -g ./almoner-*.tgz', folder);
  expect(installed.status, all(installed)).toBe(0);
}, 300_000);
afterAll(async () => {
  await endServerOf(user.dataFolder);
  rmSync(folder, { recursive: true, force: true });
});

/** npm has printed a list of packages, and lately an object of them by name. */
function filesOf(stdout: string): string[] {
  const one = z.object({ files: z.array(z.object({ path: z.string() })) });
  const document: unknown = JSON.parse(stdout);
  const [first] = z
    .union([z.array(one), z.record(z.string(), one).transform(Object.values<z.infer<typeof one>>)])
    .parse(document);
  return first?.files.map(({ path }) => path) ?? [];
}

describe('the package', () => {
  test('holds the program, the samples and the documentation, and nothing else', () => {
    const expected = /^(dist\/|jobs\/|docs\/|(README|CHANGELOG)\.md$|LICENSE$|package\.json$)/;
    expect(packed.filter((path) => !expected.test(path))).toEqual([]);
    expect(
      packed.filter((path) =>
        /(^|\/)(tests?|bench|fixtures|node_modules|reports)\/|\.test\.|\.(env|pem|key|csr|log|tgz|aof|rdb)$/.test(
          path,
        ),
      ),
    ).toEqual([]);
  });

  test('holds everything that the program reads at run time', () => {
    const assets = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(lua|json)$/.test(path) && !path.startsWith(join('desk', 'web')))
      // The build puts the shared fragments into each script.
      .filter((path) => !path.startsWith(join('ledger', 'includes')))
      .map((path) => `dist/${path.replaceAll('\\', '/')}`);
    expect(assets.length).toBeGreaterThan(20);
    expect(assets.filter((path) => !packed.includes(path))).toEqual([]);
    const scripts = packed.filter((path) => path.endsWith('.lua'));
    const open = scripts.filter((path) =>
      readFileSync(join(packageFolder(), path), 'utf8').includes('--- @include'),
    );
    expect(open).toEqual([]);
    const samples = readdirSync('jobs').map((name) => `jobs/${name}`);
    expect(samples.filter((path) => !packed.includes(path))).toEqual([]);
    expect(packed).toContain('dist/desk/web/index.html');
  });

  test('declares the library without any other package', () => {
    const declarations = packed.filter((path) => path.endsWith('.d.ts'));
    expect(declarations).toContain('dist/index.d.ts');
    const imported = declarations.flatMap((path) =>
      [...readFileSync(join(packageFolder(), path), 'utf8').matchAll(/(?:from |import\()['"]([^'"]+)/g)].map(
        (match) => match[1] ?? '',
      ),
    );
    expect(imported.filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  test('tells nothing of the machine that made it: no path, no user, no key', () => {
    const telling = [resolve('.'), homedir()].filter((path) => path.length > 3);
    const found = packed.filter((path) => {
      const bytes = readFileSync(join(packageFolder(), path));
      return telling.some((word) => bytes.includes(`${word}/`)) || bytes.includes('PRIVATE KEY-----');
    });
    expect(found).toEqual([]);
  });
});

describe('installed, in an empty folder', () => {
  test('says its version, and without arguments what to do first', async () => {
    const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect((await user.shell('almoner --version', empty)).stdout.trim()).toBe(version);
    const bare = await user.shell('almoner', empty);
    expect(bare.status, all(bare)).toBe(0);
    expect(bare.stdout).toContain('almoner init');
    expect(readdirSync(empty)).toEqual([]);
  });

  test('completes commands in a shell', async () => {
    const script = `source <(almoner completion bash); COMP_WORDS=(almoner reh); COMP_CWORD=1; _almoner; echo "\${COMPREPLY[@]}"`;
    const ran = await user.shell(script, empty);
    expect(ran.stdout.trim(), all(ran)).toBe('rehearse');
  });

  test('writes the first files and rehearses them to a report', async () => {
    const init = await user.shell('almoner init', empty);
    expect(init.status, all(init)).toBe(0);
    const next = /^Next: (almoner rehearse .+)$/m.exec(init.stdout)?.[1] ?? '';
    const rehearsed = await user.shell(next, empty);
    expect(rehearsed.status, all(rehearsed)).toBe(0);
    const report = /^Next: open (.+report\.html)$/m.exec(rehearsed.stdout)?.[1] ?? '';
    expect(existsSync(report)).toBe(true);
    const sample = join(packageFolder(), 'jobs', 'transfers.csv');
    const brought = await user.shell(`almoner rehearse '${sample}' --json`, empty);
    expect(brought.status, all(brought)).toBe(0);
  });

  test('opens the desk with its pages', async () => {
    const child = spawn(join(user.prefix, 'bin', 'almoner'), ['serve', '--port', '0', '--json'], {
      cwd: empty,
      env: { PATH: process.env.PATH, HOME: user.home },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = once(child, 'close');
    try {
      const first = await Promise.race([
        once(createInterface({ input: child.stdout }), 'line'),
        ended.then(() => []),
      ]);
      const { url }: { url: string } = JSON.parse(String(first[0] ?? '{}'));
      const page = await ask(`${url}/`);
      expect(page.status).toBe(200);
      const assets = [...page.text.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css|svg))"/g)].map(
        (match) => match[1] ?? '',
      );
      expect(assets.length).toBeGreaterThan(1);
      for (const asset of assets) expect([asset, (await ask(`${url}${asset}`)).status]).toEqual([asset, 200]);
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  });
});

describe('imported by a program in TypeScript', { timeout: 300_000 }, () => {
  const ANN = '119837460192837465';
  let project: string;
  const compile = (file: string) =>
    user.shell(
      `'${process.execPath}' '${resolve('node_modules/typescript/bin/tsc')}' --pretty false -p ${file}.json`,
      project,
    );

  beforeAll(async () => {
    project = join(folder, 'bot');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{"type": "module"}');
    // One install serves all: npm itself links the package that the user has.
    const linked = await user.shell('npm link almoner', project);
    expect(linked.status, all(linked)).toBe(0);
  });

  /** A program with settings as strict as there are; the declarations of the package are checked, too. */
  function program(name: string, text: string): void {
    writeFileSync(join(project, `${name}.ts`), text);
    const compilerOptions = {
      ...{
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
      },
      ...{ module: 'nodenext', target: 'es2023', lib: ['es2023'] },
      ...{ types: ['node'], typeRoots: [resolve('node_modules/@types')] },
    };
    writeFileSync(join(project, `${name}.json`), JSON.stringify({ compilerOptions, files: [`${name}.ts`] }));
  }

  test('the chat bot of docs/library.md compiles, pays each message once and ends by itself', async () => {
    const [bot = ''] = codeUnder('docs/library.md', 'A chat bot that pays on an event', 'ts');
    program('bot', bot);
    const compiled = await compile('bot');
    expect(compiled.status, all(compiled)).toBe(0);
    // ALMONER_TEST_NODE names another Node.js to run it on, such as the next major version.
    const nodes = [process.execPath, ...(process.env.ALMONER_TEST_NODE?.split(':') ?? [])];
    for (const [index, node] of nodes.entries()) {
      const env = { ALMONER_DATA: join(folder, `data-${index}`) };
      const lines = [`m-1 7 thanks ${ANN}`, `m-1 7 thanks ${ANN}`, 'm-2 7 waves', 'm-3 7 thanks 1.19E+17'];
      const { replies, ran } = await chat(node, lines, 3, env);
      expect([node, ran.status, all(ran)]).toEqual([node, 0, '\n']);
      expect(replies).toEqual([
        'm-1 paid',
        'm-1 paid',
        expect.stringMatching(/^m-3 refused: .*scientific notation/),
      ]);
      const history = await user.shell(`almoner history ${ANN} --json`, project, env);
      expect(JSON.parse(history.stdout)).toMatchObject({
        orders: [{ op: 'credit', tokens: 5, state: 'paid', reference: 'thanks/m-1', reason: 'thanked by 7' }],
      });
    }
  });

  /** Serves a chat to a bot: says the lines, waits for its replies and hangs up. */
  async function chat(node: string, lines: readonly string[], expected: number, env: NodeJS.ProcessEnv) {
    const replies: string[] = [];
    const server = createServer((peer) => {
      createInterface({ input: peer }).on('line', (reply) => {
        if (replies.push(reply) === expected) peer.end();
      });
      peer.write(`${lines.join('\n')}\n`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const ran = await user.shell(`'${node}' bot.js`, project, { ...env, CHAT_PORT: String(port) });
    server.close();
    return { replies, ran };
  }

  test('a member id that is a number, and a state that is none, do not compile', async () => {
    program(
      'wrong',
      `import { open } from 'almoner';
const almoner = await open();
const { state } = await almoner.pay({ rows: [{ member: 119837, tokens: 5 }] });
if (state === 'payed') await almoner.close();
`,
    );
    const { status, stdout } = await compile('wrong');
    expect(status).not.toBe(0);
    expect(stdout).toContain(
      `wrong.ts(3,48): error TS2322: Type 'number' is not assignable to type 'string'`,
    );
    expect(stdout).toContain('wrong.ts(4,5): error TS2367');
    expect(stdout.match(/error TS/g)).toHaveLength(2);
  });
});
