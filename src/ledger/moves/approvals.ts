import { z } from 'zod';
import type { ApprovalKind } from '../../core/approvals.js';
import type { Requirement } from '../../core/people.js';
import { type ApprovalRequest, decodeRequest } from '../read/gate.js';
import { allLedgers, askRealm, askScript, type BatchRef, type RealmLedger } from '../realm-ledger.js';
import type { ScriptClient } from '../script-client.js';
import { type AuditEntry, encodeAudit } from '../views.js';

/**
 * The one protocol of approvals, for batches, retries and rules: a person asks for exactly what a hash stands for, another
 * person approves or rejects it, and it is used once (see includes/approvals.lua).
 */

/** For so long an approval counts that was not used. */
const COUNTS_MS = 72 * 3_600_000;

/** What an approval is asked for. */
export type Subject =
  | { readonly kind: 'batch' | 'retry'; readonly batch: Pick<BatchRef, 'ledger' | 'no' | 'id'> }
  | { readonly kind: 'rule'; readonly ledger: RealmLedger; readonly rule: string };

type Given = {
  readonly who?: string;
  readonly hash?: string;
  readonly audit?: AuditEntry | null;
  readonly asked?: Readonly<Record<string, unknown>>;
  readonly limits?: Requirement;
};

function ask(subject: Subject, action: string, given: Given): Promise<string[]> {
  const [ledger, of, id] =
    subject.kind === 'rule'
      ? [subject.ledger, subject.rule, '']
      : [subject.batch.ledger, subject.batch.no, subject.batch.id];
  return askApproval(ledger, action, { kind: subject.kind, of, id }, given);
}

function askApproval(
  ledger: RealmLedger,
  action: string,
  { kind, of, id }: { readonly kind: ApprovalKind | ''; readonly of: string; readonly id: string },
  { who = '', hash = '', audit = null, asked, limits }: Given,
): Promise<string[]> {
  return askScript(ledger, 'approval', [
    action,
    kind,
    of,
    id,
    who,
    hash,
    COUNTS_MS,
    audit === null ? '' : encodeAudit(audit),
    asked === undefined ? '' : JSON.stringify(asked),
    ...limitArguments(limits),
  ]);
}

export function limitArguments(limits: Requirement | undefined): [string, string] {
  return [String(limits?.overTokens ?? ''), String(limits?.overRows ?? '')];
}

/** `same`: exactly this was asked for before; the second word is by whom. */
export async function requestApproval(
  subject: Subject,
  by: { readonly who: string; readonly hash: string; readonly why: string | null; readonly text: string },
): Promise<'asked' | 'same'> {
  const { who, hash, why, text } = by;
  const [answer] = await ask(subject, 'request', {
    who,
    hash,
    asked: { text, ...(why === null ? {} : { why }) },
  });
  return z.enum(['asked', 'same']).parse(answer);
}

const retryReply = z.enum([
  'free',
  'approved',
  'alone',
  'asked',
  'same',
  'other',
  'lacking',
  'nameless',
  'gone',
]);

/** Whether these dead letters may be retried; where an approval is required for them, it is asked for. */
export async function requestRetry(
  batch: Pick<BatchRef, 'ledger' | 'no' | 'id'>,
  by: {
    readonly who: string;
    readonly hash: string;
    readonly why: string | null;
    readonly limits: Requirement;
    readonly indexes: readonly number[];
    readonly tokens: bigint;
  },
): Promise<{
  readonly answer: z.infer<typeof retryReply>;
  /** Those that need an approval, where others of them have one. */
  readonly lacking: readonly number[];
  /** Who has asked for other dead letters of the batch. */
  readonly first: string;
}> {
  const { who, hash, why, limits, indexes, tokens } = by;
  const asked = {
    ...(why === null ? {} : { why }),
    orders: indexes.length,
    tokens: String(tokens),
    indexes: indexes.map(String),
  };
  const [answer, json = '[]'] = await ask({ kind: 'retry', batch }, 'retry', { who, hash, asked, limits });
  const lacking = z.array(z.coerce.number()).parse(JSON.parse(json.startsWith('[') ? json : '[]'));
  return { answer: retryReply.parse(answer), lacking, first: answer === 'other' ? json : '' };
}

const approveReply = z.enum([
  'approved',
  'same-person',
  'nameless',
  'changed',
  'not-needed',
  'disarmed',
  'gone',
]);

export async function approve(
  subject: Subject,
  by: {
    readonly who: string;
    readonly hash: string;
    /** Of a batch: what was shown as still to be sent, and how many had been retried then. */
    readonly shown?: { readonly orders: number; readonly tokens: bigint; readonly retried: number };
  },
  audit: AuditEntry | null,
): Promise<z.infer<typeof approveReply>> {
  const { who, hash, shown } = by;
  const asked = shown && { ...shown, tokens: String(shown.tokens) };
  const [answer] = await ask(subject, 'approve', { who, hash, audit, ...(asked && { asked }) });
  return approveReply.parse(answer);
}

/** Drops the request; the orders of a retry stay dead. A batch is rejected by being cancelled. */
export async function rejectApproval(
  subject: Subject,
  hash: string,
  audit: AuditEntry | null,
): Promise<'rejected' | 'not-needed' | 'changed'> {
  const [answer] = await ask(subject, 'reject', { hash, audit });
  return z.enum(['rejected', 'not-needed', 'changed']).parse(answer);
}

export type Withdrawn = {
  readonly batches: readonly string[];
  readonly rules: readonly { readonly realm: string; readonly rule: string }[];
};

/** Takes back what a person has asked for or approved, where it was not used. */
export async function withdrawApprovals(scripts: ScriptClient, who: string): Promise<Withdrawn> {
  const batches: string[] = [];
  const rules: { realm: string; rule: string }[] = [];
  for (const ledger of await allLedgers(scripts))
    for (const one of await askApproval(ledger, 'withdraw', { kind: '', of: '', id: '' }, { who })) {
      if (one.startsWith(RULE)) rules.push({ realm: ledger.realm.name, rule: one.slice(RULE.length) });
      else batches.push(one);
    }
  return { batches, rules };
}
const RULE = 'rule ';

export async function ruleRequests(ledger: RealmLedger): Promise<ReadonlyMap<string, ApprovalRequest>> {
  const all = await askRealm(ledger, 'read approvals', (redis, T) => redis.hgetall(`${T}:rules:approvals`));
  return new Map(
    Object.entries(all).flatMap(([rule, json]) => {
      const known = decodeRequest(json);
      return known === null ? [] : [[rule, known] as const];
    }),
  );
}

/** The dead letters that a request for a retry is for. */
export async function requestedRetries({ ledger, no }: Pick<BatchRef, 'ledger' | 'no'>): Promise<number[]> {
  const indexes = await askRealm(ledger, 'read retry', (redis, T) => redis.hkeys(`${T}:b:${no}:retry`));
  return indexes.map(Number).sort((one, other) => one - other);
}
