import { resolve } from 'node:path';
import { counted } from '../../core/counted.js';
import { findRules } from '../../operations/rules/files.js';
import { faultLine } from '../../rules/fault.js';
import { lookAtRules } from '../../rules/rule-thread.js';
import { defineCommand } from '../frame/command.js';
import { argumentList } from '../frame/options.js';

/** A module of its own: it opens neither store nor realm, and must not wait for modules that do. */
export const check = defineCommand({
  name: 'rules check',
  description:
    'Checks rule files and everything they name: fields, expressions, audience, schedule. Asks no realm and no store.',
  arguments: { FILE: argumentList('rule files; all of jobs/ where none is named') },
  examples: ['almoner rules check', 'almoner rules check jobs/weekly.yaml'],
  async run({ output, args, cwd, ...context }) {
    const files = args.FILE;
    const found =
      files.length > 0
        ? await lookAtRules(
            files.map((file) => ({ path: resolve(cwd, file), file })),
            true,
          )
        : await findRules(await context.config(), cwd);
    const faults = found.flatMap(({ result }) => ('faults' in result ? [...result.faults] : []));
    output.print({
      json: {
        files: found.map(({ file, result }) => ({
          file,
          rule: result.name,
          ok: 'rule' in result,
          members: 'rule' in result ? result.audience.members : null,
        })),
        faults,
      },
      text: [
        ...found.flatMap(({ file, result }) =>
          'rule' in result
            ? [
                `${output.colours.green('ok')}      ${file}: ${result.rule.name}, ${counted(result.audience.members, 'member')}`,
              ]
            : [
                `${output.colours.red('faulty')}  ${file}`,
                ...result.faults.map((fault) => `        ${faultLine(fault)}`),
              ],
        ),
        ...(found.length === 0 ? ['There is no rule file in the jobs folder.'] : []),
      ],
      next:
        faults.length > 0
          ? 'mend the places above; then check again'
          : found.length === 0
            ? 'write one; docs/reference/rules.md shows how'
            : 'almoner rules plan FILE',
    });
    return faults.length > 0 ? 3 : 0;
  },
});
