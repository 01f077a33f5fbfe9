import type { Waiting } from '../../core/waiting.js';
import type { BatchSummary } from '../api-types.js';
import type { Notice } from './notice.js';

/** A batch's standing in a few lines of chat: what, how far, when it ends, why it stands. */
const CHARACTERS_MAX = 1_900;
const BAR_CELLS = 20;

const HEADS: Readonly<Record<BatchSummary['state'], string>> = {
  planned: 'waits',
  running: 'is being paid',
  paused: 'is paused',
  halted: 'is HALTED',
  done: 'is done',
  cancelled: 'was cancelled',
};

export function messageText({ batch, link }: Notice): string {
  const { counts, tokens } = batch;
  const open = (counts.planned ?? 0) + (counts.sending ?? 0) + (counts.unknown ?? 0);
  const settled = batch.rows - open;
  const failed = (counts.refused ?? 0) + (counts.exhausted ?? 0) + (counts.invalid ?? 0);
  const lines = [
    ...(batch.rehearsal ? ['REHEARSAL: no real points move.'] : []),
    `**${plain(batch.source)}** ${HEADS[batch.state]} (batch \`${batch.batch}\`, realm ${plain(batch.realm)})`,
    `\`${bar(settled, batch.rows)}\` ${settled} of ${batch.rows} rows`,
    `paid ${counts.paid ?? 0} orders, ${tokens.paid ?? '0'} tokens`,
    ...(failed > 0 ? [`failed ${failed}`] : []),
    ...((counts.doubt ?? 0) > 0 ? [`in doubt ${counts.doubt}: an operator has to decide`] : []),
    ...(batch.state === 'running' && batch.etaSeconds !== null
      ? [`ends <t:${Math.floor(Date.now() / 1000) + batch.etaSeconds}:R>`]
      : []),
    ...(batch.reason === null ? [] : [`${plain(batch.reason.message)} Next: ${plain(batch.reason.next)}`]),
    ...batch.waiting.filter(isNews).map(waitingLine),
    ...(link === null ? [] : [link]),
  ];
  return lines.join('\n').slice(0, CHARACTERS_MAX);
}

/** What the lines above do not say already. */
function isNews({ why }: Waiting): boolean {
  return why !== 'doubt' && why !== 'paused' && why !== 'halted' && why !== 'disarmed';
}

function waitingLine({ orders, tokens, message, next }: Waiting): string {
  return `${orders} orders (${tokens} tokens) wait: ${plain(message)}${next === null ? '' : ` Next: ${plain(next)}`}`;
}

function bar(done: number, all: number): string {
  const filled = all === 0 ? BAR_CELLS : Math.floor((done / all) * BAR_CELLS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)}`;
}

/** Text from files and realms without anything that the chat would dress up. */
function plain(text: string): string {
  return text.replaceAll(/[*_`~|<>@\\[\]()#]/g, (sign) => `\\${sign}`).slice(0, 300);
}
