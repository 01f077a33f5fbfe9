import { z } from 'zod';
import { NOTICE_EVENTS, type NoticeEvent } from '../../core/notice-events.js';
import type { Waiting } from '../../core/waiting.js';
import type { notes } from '../../ledger/index.js';
import { sumWords } from '../../words/amounts.js';
import { counted, grouped } from '../../words/spelling.js';
import { settledRows } from '../../words/states.js';
import type { BatchSummary } from '../api/index.js';
import { type Notice, type Outgoing, post, type Sent, type Target } from './target.js';

/**
 * A Discord webhook with one message per batch, edited in place. The first post uses `?wait=true` and returns the
 * message id; later ones patch it. The store keeps the id, so that a restarted desk edits the same message. A message
 * that a person deleted is posted anew. Alerts about no batch are messages of their own.
 */
export type DiscordOptions = {
  readonly name: string;
  /** The URL is itself a secret. It is read at each use and never logged. */
  readonly url: () => string;
  /** By batch: the id of the chat message, and the time of the state it shows. */
  readonly messages: Pick<notes.NoteStore<string>, 'get' | 'put'>;
  readonly events?: readonly NoticeEvent[] | null;
};

const posted = z.object({ id: z.string().regex(/^[\w-]{1,64}$/) });
const SHOWN: Sent = { ok: true, status: null, why: null, retryAfterMs: 0, body: '' };

/** Makes a target that posts to a Discord channel. */
export function discord({ name, url, messages, events }: DiscordOptions): Target {
  const request = (address: string, message: string | null, body: string, stop: AbortSignal) => {
    const to = new URL(address);
    if (message === null) to.searchParams.set('wait', 'true');
    else to.pathname = `${to.pathname.replace(/\/$/, '')}/messages/${message}`;
    return post({ method: message === null ? 'POST' : 'PATCH', url: to.href, body }, stop);
  };
  const send = async ({ body, at, thread }: Outgoing, stop: AbortSignal): Promise<Sent> => {
    const address = addressOr(url);
    if (address === null)
      return { ...SHOWN, ok: false, why: 'its address cannot be read; `almoner doctor` says why' };
    const [message = '', shownAt = '0'] = (thread === null ? '' : ((await messages.get(thread)) ?? '')).split(
      ' ',
    );
    // A delayed message must not overwrite a newer state.
    if (message !== '' && Number(shownAt) > at) return SHOWN;
    const keep = async (id: string) => thread !== null && messages.put(thread, `${id} ${at}`);
    if (message !== '') {
      const edited = await request(address, message, body, stop);
      if (edited.ok) await keep(message);
      if (edited.status !== 404) return edited;
    }
    const sent = await request(address, null, body, stop);
    const id = sent.ok ? idIn(sent.body) : null;
    if (id !== null) await keep(id);
    return sent;
  };
  return {
    name,
    place: () => new URL(url()).origin,
    wants: events ?? NOTICE_EVENTS,
    // Names of files and people must not mention anybody in the chat.
    body: (notice) => JSON.stringify({ content: messageText(notice), allowed_mentions: { parse: [] } }),
    send,
    async progress(notice, stop) {
      const at = Date.parse(notice.at);
      await send({ id: '', body: this.body(notice), at, thread: notice.matter.subject }, stop);
    },
  };
}

function addressOr(url: () => string): string | null {
  try {
    return url();
  } catch {
    return null;
  }
}

function idIn(body: string): string | null {
  try {
    return posted.parse(JSON.parse(body)).id;
  } catch {
    return null;
  }
}

/** The longest chat message that is sent, in characters. Discord refuses more than 2,000. */
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

/** The chat message about an alert: the batch, its progress, its end, and why it waits. */
export function messageText({ matter, summary: batch, link }: Notice): string {
  const said = `${plain(matter.message)}${matter.next === null ? '' : ` Next: ${plain(matter.next)}`}`;
  if (batch === null) return [said, ...(link === null ? [] : [link])].join('\n').slice(0, CHARACTERS_MAX);
  const { counts, tokens } = batch;
  const settled = settledRows(batch);
  const failed = (counts.refused ?? 0) + (counts.exhausted ?? 0) + (counts.invalid ?? 0);
  const lines = [
    ...(batch.rehearsal ? ['REHEARSAL: no real points move.'] : []),
    `**${plain(batch.source)}** ${HEADS[batch.state]} (batch \`${batch.batch}\`, realm ${plain(batch.realm)})`,
    `\`${bar(settled, batch.rows)}\` ${grouped(settled)} of ${counted(batch.rows, 'row')} settled`,
    `paid ${counted(counts.paid ?? 0, 'order')}, ${sumWords(tokens.paid ?? '0', batch.amounts, true)}`,
    ...(failed > 0 ? [`failed ${grouped(failed)}`] : []),
    ...((counts.doubt ?? 0) > 0 ? [`in doubt ${grouped(counts.doubt ?? 0)}: an operator has to decide`] : []),
    ...(batch.state === 'running' && batch.etaSeconds !== null
      ? [`ends <t:${Math.floor(Date.now() / 1000) + batch.etaSeconds}:R>`]
      : []),
    ...(batch.reason === null ? [] : [`${plain(batch.reason.message)} Next: ${plain(batch.reason.next)}`]),
    ...batch.waiting.filter(isNews).map((one) => waitingLine(one, batch)),
    ...(link === null ? [] : [link]),
  ];
  return lines.join('\n').slice(0, CHARACTERS_MAX);
}

/** True where the other lines of the message do not say it already. */
function isNews({ why }: Waiting): boolean {
  return why !== 'doubt' && why !== 'paused' && why !== 'halted' && why !== 'disarmed';
}

function waitingLine({ orders, tokens, message, next }: Waiting, { amounts }: BatchSummary): string {
  return `${counted(orders, 'order waits', 'orders wait')} (${sumWords(tokens, amounts)}): ${plain(message)}${next === null ? '' : ` Next: ${plain(next)}`}`;
}

function bar(done: number, all: number): string {
  const filled = all === 0 ? BAR_CELLS : Math.floor((done / all) * BAR_CELLS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)}`;
}

/** Text from files and realms, with the chat's markup escaped. */
function plain(text: string): string {
  return text.replaceAll(/[*_`~|<>@\\[\]()#]/g, (sign) => `\\${sign}`).slice(0, 300);
}
