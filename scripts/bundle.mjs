// Bundles the command line: its own modules and the packages that nearly every command needs, which Node would
// otherwise find, read and link file by file for longer than most commands work (docs/performance.md, Start).
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, posix, relative, resolve } from 'node:path';
import { build } from 'vite';

/**
 * Everything else stays in node_modules and is loaded by the commands that use it. Of what a bundled package needs, nothing
 * may stay there that almoner needs too: bullmq has its own version of cron-parser.
 */
const BUNDLED = [
  'bullmq',
  'commander',
  'cron-parser',
  'csv-parse',
  'fastest-levenshtein',
  'got',
  'ioredis',
  'lossless-json',
  'lru-cache',
  'pino',
  'yaml',
  'zod',
];

const SRC = resolve('src');
const CLI = join(SRC, 'cli');

/** Stays a file of its own: tests load it before the program, to say where a process is to die. */
const FAIL_POINT = /\/core\/fail-point\.js$/;

/** Scripts, pages and threads lie in dist where they lay in src: what looks for them beside itself still finds them. */
const PLACES = {
  name: 'places',
  enforce: 'pre',
  resolveId(source) {
    return FAIL_POINT.test(source) ? { id: '../../core/fail-point.js', external: true } : null;
  },
  transform(code, id) {
    if (!id.startsWith(SRC) || !code.includes('import.meta.')) return null;
    const place = relative(join(CLI, 'chunks'), id).replaceAll('\\', '/').replace(/\.ts$/, '.js');
    return code
      .replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`)
      .replaceAll('import.meta.dirname', `\`\${import.meta.dirname}/${posix.dirname(place)}\``);
  },
};

/** Writes main.js, what it runs, a file for each module of commands, and the chunks they share. */
export async function bundleCommandLine() {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const commands = readdirSync(join(CLI, 'commands')).map((file) => `commands/${basename(file, '.ts')}`);
  await build({
    configFile: false,
    logLevel: 'warn',
    plugins: [PLACES],
    ssr: { noExternal: true, external: Object.keys(dependencies).filter((name) => !BUNDLED.includes(name)) },
    build: {
      ssr: true,
      outDir: join('dist', 'cli'),
      target: 'node20',
      license: { fileName: 'licenses.md' },
      // A stack trace names the function and a line that can be read.
      minify: false,
      rolldownOptions: {
        // Each module begins with its name as a comment.
        experimental: { attachDebugInfo: 'simple' },
        input: Object.fromEntries(
          ['main', 'frame/command-line', ...commands].map((name) => [name, join(CLI, `${name}.ts`)]),
        ),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: 'chunks/[name].js',
          codeSplitting: {
            // A package takes along what it needs; bullmq must leave ioredis to the commands without queues.
            groups: BUNDLED.map((name) => ({
              name,
              test: new RegExp(`/node_modules/${name}/`),
              priority: name === 'bullmq' ? 0 : 1,
            })),
          },
        },
      },
    },
  });
}
