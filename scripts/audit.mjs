// Asks the registry for known vulnerabilities of the packages in package-lock.json. If the registry does not answer, it
// says so clearly: a silent pass would look like an audit.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const GRAVE = ['high', 'critical'];

/** Asks npm, and judges its answer. */
function audit(cwd, omitDev) {
  const args = ['audit', '--json', ...(omitDev ? ['--omit=dev'] : [])];
  const ran = spawnSync('npm', args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return judgeAudit(ran.stdout ?? '', omitDev);
}

/** `{ grave, lines }`: whether the output of `npm audit --json` must stop us, and what to print. */
export function judgeAudit(output, omitDev) {
  const what = omitDev
    ? 'what is installed with the package'
    : 'everything, tools for building and testing included';
  const answer = parse(output);
  const counts = answer?.metadata?.vulnerabilities;
  if (counts === undefined) return { grave: false, lines: [`not audited: ${reasonOf(answer)} (${what})`] };
  const found = Object.values(answer.vulnerabilities ?? {});
  const listed = found.map(({ name, severity, range }) => `  ${severity}: ${name} ${range}`).sort();
  return {
    grave: GRAVE.some((severity) => counts[severity] > 0),
    lines: [
      `audited: ${counts.total === 0 ? 'nothing is known against' : `${counts.total} found in`} ${what}`,
      ...listed,
    ],
  };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Without the registry's address: a log may be public where a registry is not. */
function reasonOf(answer) {
  const status = answer?.statusCode;
  if (typeof status === 'number') return `the registry does not offer it (HTTP ${status})`;
  return 'the registry did not answer';
}

function auditAll(cwd) {
  const results = [audit(cwd, true), audit(cwd, false)];
  for (const { lines } of results) for (const line of lines) console.log(line);
  return results.some(({ grave }) => grave) ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = auditAll(process.cwd());
