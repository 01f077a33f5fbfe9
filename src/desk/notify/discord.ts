import { z } from 'zod';
import { openCount } from '../../core/states.js';
import type { Waiting } from '../../core/waiting.js';
import type { NoteStore } from '../../ledger/index.js';
import type { BatchSummary } from '../api/index.js';
import { deliver, keyOf, type Notice, type Target, type TargetOptions } from './notice.js';

/**
 * One chat message per batch, edited in place: posted with `?wait=true`, which answers its id, and patched
 * from then on. The id is kept in the store, so that a restarted desk goes on editing the same message; one
 * that somebody deleted is posted anew.
 */
export type DiscordOptions = TargetOptions & {
  /** The URL is itself the secret: it is read when it is used, and never logged. */
  readonly url: () => string;
  readonly messages: Pick<NoteStore<string>, 'get' | 'put'>;
};

const posted = z.object({ id: z.string().regex(/^[\w-]{1,64}$/) });

export function discord(options: DiscordOptions): Target {
  return {
    wants: ['progress', 'finished', 'halted', 'doubt', 'missing-session'],
    async send(notice) {
      const key = keyOf(notice.batch);
      const known = await options.messages.get(key);
      const edited = known === null ? null : await request(options, notice, known);
      if (edited?.ok) return;
      if (edited !== null && edited.status !== 404) return complain(options, notice, edited.status);
      const sent = await request(options, notice, null);
      if (!sent.ok) return complain(options, notice, sent.status);
      const id = idIn(sent.body);
      if (id !== null) await options.messages.put(key, id);
    },
  };
}

function request(options: DiscordOptions, notice: Notice, message: string | null) {
  const url = new URL(options.url());
  if (message === null) url.searchParams.set('wait', 'true');
  else url.pathname = `${url.pathname.replace(/\/$/, '')}/messages/${message}`;
  // Names of files and people are not allowed to call anybody.
  const body = JSON.stringify({ content: messageText(notice), allowed_mentions: { parse: [] } });
  const method = message === null ? 'POST' : 'PATCH';
  return deliver({ method, url: url.href, headers: () => ({}), body }, options.tries);
}

function idIn(body: string): string | null {
  try {
    return posted.parse(JSON.parse(body)).id;
  } catch {
    return null;
  }
}

function complain({ realm, logger }: DiscordOptions, notice: Notice, status: number | null): void {
  logger.warn(
    { realm, event: notice.event, batch: notice.batch.batch, status },
    'the chat did not take a notice',
  );
}

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
  const settled = batch.rows - openCount(counts);
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

/** Whether the other lines of the message do not say it already. */
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
