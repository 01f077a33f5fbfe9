import { AlmonerError } from '../../core/errors/error.js';
import { differingReferences, readSpentFiles, type SpentFile } from '../../csv/spent-references.js';
import { planning, registerRealm } from '../../ledger/index.js';
import { addReferences } from '../../operations/services/added-references.js';
import { pickProfile } from '../../runtime/config/config.js';
import { counted, grouped } from '../../words/spelling.js';
import { confirmRisk } from '../frame/confirm.js';
import { storeCommand } from '../frame/open-app.js';
import { argumentList, flag, usage } from '../frame/options.js';
import { slowProgress } from '../text/order-text.js';

/** Marks references as spent that another tool or an older ledger paid. */
export const add = storeCommand({
  name: 'references add',
  description:
    'Marks references as spent that another ledger or tool paid: later rows with them are duplicates. Sends nothing.',
  arguments: { FILE: argumentList('paid.csv files of reports, or any CSV with a column reference') },
  options: { yes: flag('do not ask') },
  examples: [
    'almoner references add old/reports/*/paid.csv',
    'almoner references add paid.csv --realm guild --yes',
  ],
  run: async (context) => {
    const { args, options, output, global } = context;
    if (args.FILE.length === 0) throw usage('No file is given. Nothing was done.');
    const files = await readSpentFiles(args.FILE);
    const differing = differingReferences(files);
    return async (app) => {
      const profile = pickProfile(app.config, global.realm);
      const ledger = app.ledger(profile);
      const references = files.flatMap(({ lines }) => lines.map(({ reference }) => reference));
      const spent = await planning.references.spent(ledger, references);
      const told = [
        ...files.map(fileLine),
        `Realm ${profile.name}: ${counted(new Set(references).size, 'reference')}, of which ${grouped(spent.size)} are spent already`,
        ...(differing.length === 0 ? [] : [differingLine(differing)]),
      ];
      if (!global.json) for (const line of told) output.note(line);
      await confirmRisk(
        context,
        new AlmonerError(
          'ALM_CLI_NOT_CONFIRMED',
          `Orders under these references will be duplicates and never be paid by realm ${profile.name}. Nothing was done.`,
          { next: 'Pass --yes where there is no terminal to ask on.' },
        ),
        options.yes,
      );
      await registerRealm(ledger);
      const results: { file: string; marked: number; spent: number; undone: number }[] = [];
      const tell = slowProgress(output.note, (done, of) => `${grouped(done)} of ${grouped(of)}`);
      for (const { name, lines, skipped } of files) {
        const note = { at: Date.now(), who: app.config.operator, file: name, references: lines.length };
        const done = await addReferences(app, { realm: profile, note, references: lines }, (n) =>
          tell(n, lines.length),
        );
        results.push({ file: name, ...done, undone: skipped.undone });
      }
      const marked = results.reduce((sum, one) => sum + one.marked, 0);
      output.print({
        json: { realm: profile.name, files: results, marked, differing },
        text: [
          `${counted(marked, 'reference is', 'references are')} marked as spent in realm ${profile.name}.`,
        ],
        next: 'almoner plan FILE',
      });
      return 0;
    };
  },
});

function fileLine({ name, lines, skipped }: SpentFile): string {
  const known = lines.filter(({ order }) => order !== null).length;
  const left = [
    ...(skipped.bare === 0 ? [] : [`${counted(skipped.bare, 'row')} without one`]),
    ...(skipped.unpaid === 0
      ? []
      : [`${counted(skipped.unpaid, 'row')} that ${skipped.unpaid === 1 ? 'was' : 'were'} not paid`]),
    ...(skipped.undone === 0
      ? []
      : [`${counted(skipped.undone, 'order')} that ${skipped.undone === 1 ? 'was' : 'were'} undone`]),
  ];
  return `${name}: ${counted(lines.length, 'reference')}, ${grouped(known)} with what was paid${left.length === 0 ? '' : `; left out: ${left.join(', ')}`}`;
}

const NAMED_MAX = 5;

/** Warns of references that the files use for different orders. */
function differingLine(differing: readonly string[]): string {
  const named = differing.slice(0, NAMED_MAX).join('; ');
  const more = differing.length > NAMED_MAX ? '; …' : '';
  return `Warning: ${counted(differing.length, 'reference stands', 'references stand')} for different orders in these files; the first one counts (${named}${more})`;
}
