import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { namesOf } from '../src/ledger/record-fields.js';

/** House rules that the compiler does not check. docs/architecture.md gives the reason for each. */

type Source = {
  readonly path: string;
  readonly text: string;
  /** The text without comments and string contents, for rules about code. */
  readonly code: string;
  readonly imports: readonly string[];
};

function sources(folder: string): readonly Source[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules'))
    .map((path) => {
      const full = join(folder, path).replaceAll('\\', '/');
      const text = readFileSync(full, 'utf8');
      return { path: full, text, code: withoutWords(text), imports: importsOf(text) };
    });
}

function importsOf(text: string): readonly string[] {
  const statements = text.matchAll(
    /^(?:import|export)\b[^;'"]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm,
  );
  return [...statements].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

function withoutWords(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g,
    (found) => (found.startsWith('/') ? '' : "''"),
  );
}

/** Resolves a relative import to a file, as the compiler does. */
function target(source: Source, specifier: string): string {
  return normalize(join(dirname(source.path), specifier))
    .replaceAll('\\', '/')
    .replace(/\.js$/, '.ts');
}

const SRC = sources('src');
const TESTS = sources('test');
const byPath = new Map(SRC.map((source) => [source.path, source]));
const folderOf = (path: string) => path.split('/')[1] ?? '';
const partOf = (path: string) => path.split('/')[2] ?? '';
const relativeImports = (source: Source) =>
  source.imports
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => target(source, specifier));

/** A higher folder may import a lower one, never the other way round. */
const RANKS: Readonly<Record<string, number>> = {
  cli: 7,
  desk: 6,
  'index.ts': 5.6,
  library: 5.5,
  operations: 5,
  runtime: 4,
  planning: 3,
  rules: 3,
  queue: 3,
  report: 3,
  ledger: 2,
  realm: 2,
  csv: 2,
  yaml: 2,
  words: 1.5,
  core: 1,
};

/** Which folders may use each group of src/ledger/index.ts. */
const CALLERS: Readonly<Record<string, readonly string[]>> = {
  planning: ['planning', 'rules', 'operations', 'cli'],
  sending: ['queue', 'runtime', 'operations'],
  steering: ['queue', 'planning', 'rules', 'operations'],
  reading: ['queue', 'planning', 'report', 'operations', 'library', 'desk', 'cli'],
  recovery: ['queue', 'planning', 'runtime', 'operations', 'desk', 'cli'],
  notes: ['rules', 'operations', 'desk'],
};

const HANDS_ON = new Set(['index', ...Object.keys(CALLERS)]);

/** The first cycle found in a graph, as the list of its nodes. */
function cycleIn(edges: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>();
  const visit = (node: string, way: readonly string[]): readonly string[] => {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node];
    if (done.has(node)) return [];
    for (const next of edges.get(node) ?? []) {
      const found = visit(next, [...way, node]);
      if (found.length > 0) return found;
    }
    done.add(node);
    return [];
  };
  for (const node of edges.keys()) {
    const found = visit(node, []);
    if (found.length > 0) return found;
  }
  return [];
}

describe('imports point one way', () => {
  test('every folder of src has a rank', () => {
    const folders = new Set(SRC.map((source) => folderOf(source.path)));
    expect([...folders].filter((folder) => RANKS[folder] === undefined)).toEqual([]);
  });

  test('cli → desk, library → operations → runtime → planning, rules, queue, report → ledger, realm, csv, yaml → core', () => {
    const wrong = SRC.flatMap((source) =>
      relativeImports(source)
        .filter((path) => (RANKS[folderOf(path)] ?? 0) > (RANKS[folderOf(source.path)] ?? 0))
        .map((path) => `${source.path} imports ${path}`),
    );
    expect(wrong).toEqual([]);
  });

  test('folders do not import each other in a circle', () => {
    const edges = new Map<string, string[]>();
    for (const source of SRC)
      for (const path of relativeImports(source))
        if (folderOf(path) !== folderOf(source.path))
          edges.set(folderOf(source.path), [...(edges.get(folderOf(source.path)) ?? []), folderOf(path)]);
    expect(cycleIn(edges)).toEqual([]);
  });

  test('subfolders and files of one folder do not import each other in a circle either', () => {
    const circles = Object.keys(RANKS).flatMap((folder) => {
      const edges = new Map<string, string[]>();
      for (const source of SRC.filter(({ path }) => folderOf(path) === folder))
        for (const path of relativeImports(source).filter((found) => folderOf(found) === folder))
          if (partOf(path) !== partOf(source.path))
            edges.set(partOf(source.path), [...(edges.get(partOf(source.path)) ?? []), partOf(path)]);
      return cycleIn(edges).map((part) => `${folder}/${part}`);
    });
    expect(circles).toEqual([]);
  });

  test('no file imports itself through others', () => {
    expect(cycleIn(new Map(SRC.map((source) => [source.path, relativeImports(source)])))).toEqual([]);
  });

  test('every relative import names a file that exists, with its ending', () => {
    const wrong = SRC.flatMap((source) =>
      source.imports
        .filter((specifier) => specifier.startsWith('.') && !specifier.includes('${'))
        .filter((specifier) => !/\.(js|json)$/.test(specifier) || !exists(target(source, specifier)))
        .map((specifier) => `${source.path} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  test('core imports nothing outside core, and reads neither clock nor chance', () => {
    const core = SRC.filter((source) => folderOf(source.path) === 'core');
    const outside = core.flatMap((source) =>
      source.imports
        .filter((specifier) => !specifier.startsWith('.') || folderOf(target(source, specifier)) !== 'core')
        // Hashing is arithmetic; it happens to live in a module of Node.
        .filter((specifier) => specifier !== 'node:crypto')
        .map((specifier) => `${source.path} imports ${specifier}`),
    );
    const impure = core.filter(({ code }) =>
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\brandom(UUID|Bytes|Int)\b|\bprocess\./.test(
        code,
      ),
    );
    expect({ outside, impure: impure.map((source) => source.path) }).toEqual({ outside: [], impure: [] });
  });

  test('outside the ledger only its index is imported', () => {
    const wrong = SRC.filter((source) => folderOf(source.path) !== 'ledger').flatMap((source) =>
      relativeImports(source)
        .filter((path) => folderOf(path) === 'ledger' && path !== 'src/ledger/index.ts')
        .map((path) => `${source.path} imports ${path}`),
    );
    expect(wrong).toEqual([]);
  });

  test('the ledger shows at most 120 names, and each group of them has its callers', () => {
    const groups = ['index', ...Object.keys(CALLERS)].map((name) => byPath.get(`src/ledger/${name}.ts`));
    const found = (rule: RegExp) =>
      groups.flatMap((group) => [...(group?.code.matchAll(rule) ?? [])].map(([, name = '']) => name));
    const handedOn = found(/^export (?:type )?\{([^}]*)\}/gm).flatMap((names) =>
      names.split(',').filter((name) => name.trim() !== ''),
    );
    const objects = found(/^export const (\w+) = \{/gm);
    const namespaces = found(/^export \* as (\w+)/gm);
    // A namespace inside a group would hide how many names it has.
    expect(namespaces.sort()).toEqual(Object.keys(CALLERS).sort());
    // Every export is of one of these kinds, so that none is left uncounted.
    expect(found(/^(export) /gm).length).toBe(
      found(/^(export) (?:type )?\{/gm).length + objects.length + namespaces.length,
    );
    expect(handedOn.length + objects.length + namespaces.length).toBeLessThanOrEqual(120);
    // One idea has few questions.
    const members = found(/^export const \w+ = \{([^}]*)\}/gm).map(
      (list) => list.split(',').filter((name) => name.trim() !== '').length,
    );
    expect(members.length).toBe(objects.length);
    expect(Math.max(...members)).toBeLessThanOrEqual(11);
    const wrong = SRC.flatMap((source) =>
      [...source.code.matchAll(/^import (?:type )?\{([^}]*)\} from ''/gm)]
        .filter(() => source.imports.some((specifier) => specifier.endsWith('/ledger/index.js')))
        .flatMap(([, names = '']) => names.split(',').map((name) => name.trim().replace(/^type /, '')))
        .filter((name) => CALLERS[name] !== undefined && !CALLERS[name].includes(folderOf(source.path)))
        .map((name) => `${source.path} uses ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  test('every export of the ledger is used by another folder', () => {
    const others = SRC.filter(({ path }) => folderOf(path) !== 'ledger')
      .filter(({ imports }) => imports.some((specifier) => specifier.endsWith('/ledger/index.js')))
      .map(({ text }) => text)
      .join('\n');
    const idle = ['index', ...Object.keys(CALLERS)].flatMap((group) => {
      const { code = '' } = byPath.get(`src/ledger/${group}.ts`) ?? {};
      const inGroup = group === 'index' ? '' : `${group}\\s*\\.\\s*`;
      const isUsed = (name: string) => new RegExp(`\\b${inGroup}${name}\\b`).test(others);
      const handedOn = [...code.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
        names
          .split(',')
          .map((name) => name.trim().replace(/^type /, ''))
          .filter((name) => name !== ''),
      );
      const members = [...code.matchAll(/^export const (\w+) = \{([^}]*)\}/gm)].flatMap(
        ([, object = '', list = '']) =>
          list
            .split(',')
            .map((member) => member.trim().split(':')[0] ?? '')
            .filter((member) => member !== '')
            .map((member) => `${object}\\s*\\.\\s*${member}`),
      );
      return [...handedOn, ...members].filter((name) => !isUsed(name)).map((name) => `${group}: ${name}`);
    });
    expect(idle).toEqual([]);
  });

  test('only the queue uses BullMQ; the desk may show its board', () => {
    const wrong = SRC.flatMap((source) =>
      source.imports
        .filter((specifier) => /^bullmq(\/|$)/.test(specifier) || specifier.startsWith('@bull-board/'))
        .filter((specifier) => {
          const folder = folderOf(source.path);
          return specifier.startsWith('@bull-board/')
            ? folder !== 'desk' && folder !== 'queue'
            : folder !== 'queue';
        })
        .map((specifier) => `${source.path} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });
});

test('the queue calls BullMQ through its methods only, and uses neither its keys nor its scores', () => {
  const wrong = SRC.filter(({ path }) => folderOf(path) === 'queue').flatMap(({ path, code }) =>
    code
      .split('\n')
      .filter((line) => /\btoKey\(|\b0x1000\b|\b4096\b|\.(multi|[lz]range\w*|hget\w*|zscore)\(/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(wrong).toEqual([]);
});

describe('scripts of the ledger', () => {
  const scripts = readdirSync('src/ledger', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua') && !path.startsWith('includes/'))
    .map((path) => ({ name: basename(path, '.lua'), folder: join('src/ledger', dirname(path)) }));
  const luaFiles = readdirSync('src/ledger', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua'))
    .map((path) => ({ path, lines: readFileSync(join('src/ledger', path), 'utf8').split('\n') }));
  /** The lines below the header comment and the includes. */
  const bodyOf = (lines: readonly string[]) => {
    const isAbove = (line: string) => /^(?:\]==\]|--- @include )/.test(line);
    return lines.slice(lines.findLastIndex(isAbove) + 1);
  };
  /** A name as the argument of a call, alone on its line or not. */
  const CALL = /(?:script|once|askScript|askSingly|askTogether(?:Once)?)\((?:\s*[\w.]+,)?\s*'([\w-]+)'/g;
  const calls = SRC.map(({ path, text }) => ({
    path,
    names: new Set([...text.matchAll(CALL)].map(([, name]) => name)),
  }));
  const callers = (name: string) => calls.filter(({ names }) => names.has(name));

  test('each script is called by one file, which lies beside it', () => {
    const wrong = scripts
      .map(({ name, folder }) => ({ name, folder, by: callers(name).map(({ path }) => path) }))
      .filter(
        ({ folder, by: [first, ...more] }) =>
          first === undefined || more.length > 0 || dirname(first) !== folder,
      );
    expect(wrong).toEqual([]);
  });

  test('no script is written inside a program: `doctor` and the tests load only the files', () => {
    const wrong = SRC.filter(({ code }) => /\.eval\(|\.call\('eval/i.test(code)).map(({ path }) => path);
    expect(wrong.sort()).toEqual(['src/ledger/script-client.ts', 'src/realm/server/store.ts']);
  });

  test('each script names its keys and arguments at the top of its body, and only there', () => {
    const wrong = luaFiles.flatMap(({ path, lines }) => {
      const body = bodyOf(lines);
      const isHead = (line: string) => /\bKEYS\[|\bARGV\b|^--|^}$/.test(line);
      const end = body.findIndex((line) => !isHead(line));
      return body
        .slice(Math.max(0, end))
        .filter((line) => /\b(?:KEYS|ARGV)\b/.test(line.replaceAll(/'[^']*'|--.*$/g, '')))
        .map((line) => `${path}: ${line.trim()}`);
    });
    expect(wrong).toEqual([]);
  });

  test('scripts read the fields of a record by name, and only those of the table', () => {
    const named = new Set<string | null>([...namesOf('s'), ...namesOf('P')]);
    const wrong = luaFiles.flatMap(({ path, lines }) => {
      const isRecord = lines.some((line) => line.includes('codeRecord('));
      const isWrong = (position: string | undefined, name: string | undefined) =>
        position !== undefined || (isRecord && !named.has(name ?? null));
      return lines
        .filter((line) =>
          [...line.matchAll(/(?<![-\w])(?:fields|was|new)(?:\[(\d+)\]|\.(\w+))/g)].some(
            ([, position, name]) => isWrong(position, name),
          ),
        )
        .map((line) => `${path}: ${line.trim()}`);
    });
    expect(wrong).toEqual([]);
  });

  test('replies and arguments are decoded by name where they arrive, and never by position', () => {
    const isNumbered = (line: string) =>
      /[\w)\]]\[\d+\]/.test(line.replaceAll(/\b(?:KEYS|ARGV)\[\d+\]|'[^']*'|--.*$/g, ''));
    const inScripts = luaFiles.flatMap(({ path, lines }) =>
      bodyOf(lines)
        .filter(isNumbered)
        .map((line) => `${path}: ${line.trim()}`),
    );
    /** The reply of a store call, under the names that replies have. */
    const REPLY =
      /\)\)\??\.?\[\d+\]|\b(?:answer|found|meta|open|reply|replies|rest|values|words)\??\.?\[\d+\]/;
    const inPrograms = SRC.filter(({ path }) => folderOf(path) === 'ledger').flatMap(({ path, code }) =>
      code
        .split('\n')
        .filter((line) => REPLY.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect([...inScripts, ...inPrograms]).toEqual([]);
  });

  test('no two scripts have one name', () => {
    expect(new Set(scripts.map(({ name }) => name)).size).toBe(scripts.length);
  });
});

describe('the store is the ledger’s', () => {
  /**
   * The realm service keeps its own members, and the runtime opens connections; no other folder uses a Redis client.
   */
  const KEEPERS = ['ledger', 'realm', 'runtime'];
  const outside = SRC.filter(({ path }) => !KEEPERS.includes(folderOf(path)));
  const linesWith = (part: 'text' | 'code', rule: RegExp, allowed: readonly string[] = []) =>
    outside
      .filter(({ path }) => !allowed.includes(path))
      .flatMap((source) =>
        source[part]
          .split('\n')
          .filter((line) => rule.test(line))
          .map((line) => `${source.path}: ${line.trim()}`),
      );

  test('no other folder uses a Redis client; the queue gives BullMQ its connections', () => {
    const imports = outside.flatMap(({ path, imports: all }) =>
      all.filter((specifier) => specifier === 'ioredis' && path !== 'src/queue/queues.ts').map(() => path),
    );
    expect(imports).toEqual([]);
    // It hands the client on to the realm service.
    expect(linesWith('code', /\bredis\b/, ['src/cli/commands/realm-serve.ts'])).toEqual([]);
  });

  test('no other folder names a key or calls a script', () => {
    expect(linesWith('code', /\bkeyPrefix\b|\bscripts\s*\.\s*(script|orders|ask)\b/)).toEqual([]);
    expect(linesWith('text', /['`]almoner:(desk|realms|archiving|\{)/)).toEqual([]);
    const scripts = readdirSync('src/ledger', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.lua') && path.includes('-'))
      .map((path) => basename(path, '.lua'));
    expect(scripts.length).toBeGreaterThan(10);
    expect(linesWith('text', new RegExp(`['"\`](${scripts.join('|')})['"\`]`))).toEqual([]);
  });

  test('no other folder knows the letters of states', () => {
    const letters = /\bcode\b[^'\n]*'[wpsPRXuDdic]'|'[wpsPRXuDdic]'[^'\n]*\bcode\b|'[ct]:[wpsPRXuDdic]'/;
    const moves = /\b(from|to): '[wpsPRXuDdic]'|\b(STATE_CODES|CODE_OF_STATE|StateCode)\b/;
    expect([...linesWith('text', letters), ...linesWith('text', moves)]).toEqual([]);
  });
});

describe('files', () => {
  const CRUMB_LINES_MAX = 60;
  /** Small files that may stay separate although only one file imports them, each with its reason. */
  const CRUMBS_ALLOWED = new Map([
    ['src/cli/frame/context.ts', 'command-line.ts only starts what the frame holds'],
    ['src/cli/frame/locate.ts', 'command-line.ts only starts what the frame holds'],
    ['src/operations/pay/check-members.ts', 'an operation, and a command is thin'],
    ['src/desk/http/routes/recovery.ts', 'a group of routes, as its neighbours are'],
    ['src/desk/http/routes/history.ts', 'a group of routes, as its neighbours are'],
    ['src/desk/web/pages/member.tsx', 'a page of the desk'],
  ]);

  test('no file is a crumb: a small helper of one file that no test imports belongs into that file', () => {
    const importsOf = new Map([...SRC, ...TESTS].map((source) => [source, relativeImports(source)]));
    const crumbs = SRC.filter(({ path, text }) => {
      if (text.split('\n').length - 1 > CRUMB_LINES_MAX || CRUMBS_ALLOWED.has(path)) return false;
      const users = (all: readonly Source[]) =>
        all.filter((source) => importsOf.get(source)?.some((found) => isSame(found, path)));
      const [only, ...others] = users(SRC);
      // What an index, or a group of the ledger's, hands on is used by others.
      const isAlone = only !== undefined && others.length === 0 && !HANDS_ON.has(basename(only.path, '.ts'));
      return isAlone && users(TESTS).length === 0;
    });
    expect(crumbs.map(({ path }) => path)).toEqual([]);
  });

  test('no file is a grab-bag', () => {
    const bags = SRC.filter(({ path }) => /\/(utils?|helpers?|common|misc|types)(\/|\.tsx?$)/.test(path));
    expect(bags.map(({ path }) => path)).toEqual([]);
  });
});

describe('no way around the checks', () => {
  const found = (all: readonly Source[], part: 'text' | 'code', rule: RegExp) =>
    all
      .filter((source) => source.path !== 'test/architecture.test.ts' && rule.test(source[part]))
      .map(({ path }) => path);

  test('no any', () => {
    expect(found([...SRC, ...TESTS], 'code', /(:|\bas|<|\||&|=>)\s*any\b(?!\s*\()|\bany\[\]/)).toEqual([]);
  });

  test('no ignored compiler or linter', () => {
    const rule = /@ts-(ignore|expect-error|nocheck)|(biome|eslint|prettier)-(ignore|disable)/;
    expect(found([...SRC, ...TESTS], 'text', rule)).toEqual([]);
  });

  test('no skipped, focused or unfinished test', () => {
    const rule =
      /\b(test|it|describe|suite|bench)(\.\w+)*\.(skip|only|todo|fails|skipIf|runIf)\b|\bx(it|test|describe)\(/;
    expect(found(TESTS, 'code', rule)).toEqual([]);
  });
});

function isSame(imported: string, path: string): boolean {
  return imported === path || imported.replace(/\.ts$/, '.tsx') === path;
}

function exists(path: string): boolean {
  return byPath.has(path) || byPath.has(path.replace(/\.ts$/, '.tsx')) || path.endsWith('.json');
}

const sabotages = z.object({
  SABOTAGES: z.array(z.object({ name: z.string(), file: z.string(), find: z.string(), test: z.string() })),
});

test('every sabotage finds its source text and its test', async () => {
  const { SABOTAGES } = sabotages.parse(await import(resolve('scripts/sabotages.mjs')));
  const lost = SABOTAGES.filter(({ file, find }) => readFileSync(file, 'utf8').split(find).length !== 2);
  expect(lost.map(({ name, file }) => `${name} in ${file}`)).toEqual([]);
  expect(SABOTAGES.filter(({ test: noticing }) => !existsSync(noticing))).toEqual([]);
});
