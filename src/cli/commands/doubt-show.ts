import { findOrder } from '../../operations/batches/find-orders.js';
import { type DoubtEvidence, doubtEvidence } from '../../operations/doubts/evidence.js';
import { grouped } from '../../words/spelling.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument } from '../frame/options.js';
import { detailLines, oneLine, orderWords, slowProgress } from '../text/order-text.js';

export const command = defineCommand({
  name: 'doubt show',
  description:
    'The evidence about one doubt, or about an order still unknown: balances seen, what they should be, later orders on the member, and what to look for upstream.',
  arguments: { ORDER: argument('an order id, as `almoner doubt list` prints it') },
  options: {},
  examples: ['almoner doubt show 7k3m9q2x4v8w-17'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'doubt-show', async (app) => {
      const { output, args } = context;
      const place = await findOrder(app.scripts, args.ORDER, context.global.realm);
      const tell = slowProgress(
        output.note,
        (done, of) => `looked at ${grouped(done)} of ${grouped(of)} rows`,
      );
      const doubt = await doubtEvidence(app, place, ({ rows, ofRows }) => tell(rows, ofRows));
      output.print({
        json: doubt,
        text: [
          ...(doubt.rehearsal ? [output.colours.yellow('REHEARSAL: no real points moved.')] : []),
          `Order ${output.colours.bold(doubt.order)} (line ${doubt.line}) on ${doubt.realm}: ${orderWords(doubt)}`,
          `  ${doubt.state === 'doubt' ? 'in doubt' : doubt.state}: ${doubt.message ?? ''} [${doubt.class ?? ''}]`,
          ...upstreamLines(doubt),
          ...doubt.members.flatMap((member) => memberLines(member, doubt.notRead)),
          ...laterLines(doubt),
          ...(doubt.looksLike === null
            ? []
            : [`It looks ${doubt.looksLike}, if nothing else moved these members at that time.`]),
          'What it met:',
          ...doubt.history.flatMap(detailLines),
        ],
        next:
          doubt.state === 'doubt'
            ? `almoner doubt resolve ${doubt.order} --paid|--unpaid --reason …`
            : `almoner status ${doubt.batch}; where it stands still, almoner doubt raise ${doubt.order} --reason …`,
      });
      return 0;
    }),
});

function upstreamLines({ sent }: DoubtEvidence): string[] {
  if (sent === null) return [];
  return [
    `Look upstream for: request id ${sent.requestId ?? 'none'}, sent at ${sent.minute}, key ${sent.key}`,
    ...(sent.body === null || sent.body === '' ? [] : [`  the answer was: ${oneLine(sent.body)}`]),
  ];
}

function memberLines(member: DoubtEvidence['members'][number], notRead: string | null): string[] {
  const { lastSeen } = member;
  const now = member.now ?? `not known (${notRead ?? 'it could not be read'})`;
  return [
    `${member.role === 'member' ? 'Member' : 'Recipient'} ${member.member} (${member.change}):`,
    `  last balance seen before  ${lastSeen === null ? 'none' : `${lastSeen.balance} (${lastSeen.from}, ${lastSeen.at})`}`,
    `  should be if paid         ${member.ifPaid ?? `not known: the balance before ${member.change}`}`,
    `  should be if unpaid       ${member.ifUnpaid ?? 'not known: the balance before'}`,
    `  when the doubt arose      ${member.whenDoubtArose ?? 'not read'}`,
    `  now                       ${now}`,
  ];
}

function laterLines({ later }: DoubtEvidence): string[] {
  if (later.length === 0) return ['No later order of these books touches them.'];
  const more = later.length - LATER_SHOWN;
  return [
    'Later orders on them, which move the balance too:',
    ...later
      .slice(0, LATER_SHOWN)
      .map(({ at, order, op, tokens, state }) => `  ${at}  ${order}  ${op} ${tokens}  ${state}`),
    ...(more > 0 ? [`  … and ${grouped(more)} more`] : []),
  ];
}

const LATER_SHOWN = 20;
