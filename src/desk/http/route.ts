import type { Readable } from 'node:stream';
import { z } from 'zod';
import { AlmonerError } from '../../core/errors/error.js';
import { recordIn } from '../../operations/people/audit.js';
import type { Access } from '../../operations/people/tokens.js';
import type { Of } from '../../operations/views/values.js';
import type { Visitor } from './access/guard.js';
import type { Desk } from './desk.js';

/**
 * One entry of the table of routes. Handlers know no framework: they get typed values and return one. The OpenAPI
 * document comes from the same entries.
 */
export type Method = 'GET' | 'POST' | 'DELETE';

export type Route = Schemas<z.ZodObject, z.ZodObject, z.ZodType, z.ZodType | string> & {
  readonly method: Method;
  /** Such as `/api/batches/:batch`. */
  readonly path: string;
  readonly access: Access;
  handle(desk: Desk, raw: RawRequest): Promise<unknown>;
};

type Schemas<P, Q, B, R> = {
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The media type of a body that is a file instead of JSON. */
  readonly file?: string;
  /** The schema of the reply, or the media type of a file or stream. */
  readonly reply: R;
};

/** Routes about one thing, as the OpenAPI document groups them. */
export type RouteGroup = {
  readonly tag: string;
  readonly description: string;
  readonly routes: readonly Route[];
};

/** The parts of a request that a handler may read, apart from its typed values. */
type RawRequest = {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly visitor: Visitor | null;
  readonly address: string;
  readonly contentLength: number | null;
  /** True once the client has closed the connection. */
  isGone(): boolean;
};

type Given<P, Q, B> = {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** The signed-in visitor. Only routes for `anyone` run without one. */
  readonly visitor: Visitor;
  readonly raw: RawRequest;
  /** Adds facts to the audit entry of this request. */
  note(facts: AuditFacts): void;
};

/** A route as routes/*.ts describe it. */
type Description<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType | string,
> = Schemas<P, Q, B, R> & {
  /** The audit entry of a change that only the desk makes. Operations write the entries of their own changes. */
  audit?: (given: Given<z.infer<P>, z.infer<Q>, z.infer<B>>) => AuditLine;
  handle(desk: Desk, given: Given<z.infer<P>, z.infer<Q>, z.infer<B>>): Answer<R> | Promise<Answer<R>>;
};

type Answer<R> = R extends z.ZodType ? Of<R> | WithHeaders<Of<R>> : Download | OpenLine;

type AuditLine = { readonly what: string; readonly batch: string | null };
/** Facts that only the handler knows: the batches, and the number of orders and tokens. */
type AuditFacts = {
  readonly batches?: readonly string[];
  readonly orders?: number;
  readonly tokens?: string;
};

const EMPTY = z.object({});
const ANYTHING = z.unknown();

/** Defines a route: `route('GET /api/tasks/:task', 'viewer', {…})`. */
export function route<
  P extends z.ZodObject = typeof EMPTY,
  Q extends z.ZodObject = typeof EMPTY,
  B extends z.ZodType = typeof ANYTHING,
  R extends z.ZodType | string = string,
>(place: `${Method} /${string}`, access: Access, description: Description<P, Q, B, R>): Route {
  const [method, path] = place.split(' ') as [Method, string];
  return {
    ...description,
    method,
    path,
    access,
    async handle(desk, raw) {
      let facts: AuditFacts = {};
      const given = {
        params: read(description.params, raw.params, 'address'),
        query: read(description.query, raw.query, 'query'),
        body: read(description.body, raw.body, 'body'),
        visitor: raw.visitor ?? NOBODY,
        raw,
        note(known: AuditFacts) {
          facts = known;
        },
      };
      const answer = await description.handle(desk, given);
      if (description.audit !== undefined) {
        const { what, batch } = description.audit(given);
        const { batches = batch === null ? [] : [batch], ...sums }: AuditFacts = facts;
        const deed = { what, why: reasonIn(raw.body), batches, ...sums };
        await recordIn(desk.app.scripts, given.visitor.identity.name, deed);
      }
      return answer;
    },
  };
}

const NOBODY: Visitor = { identity: { name: '', roles: ['viewer'], tokenHash: '' }, session: null };

/** The reason in a body, for the audit entry. */
function reasonIn(body: unknown): string | null {
  const parsed = z.object({ reason: z.string() }).safeParse(body);
  return parsed.success ? parsed.data.reason : null;
}

/** A part without a schema is passed on unchecked, and its type is unknown. */
function read<S extends z.ZodType>(schema: S | undefined, value: unknown, what: string): z.infer<S> {
  const result = (schema ?? ANYTHING).safeParse(value);
  if (result.success) return result.data as z.infer<S>;
  const details = result.error.issues.map(({ path, message }) => `${path.join('.') || what}: ${message}`);
  throw new AlmonerError(
    'ALM_DESK_BAD_REQUEST',
    `The ${what} of the request was not understood. Nothing was done.`,
    { details: details.slice(0, 20) },
  );
}

/** A reply that is a file. The name is only a suggestion to the browser and contains no path. */
export class Download {
  constructor(
    readonly name: string,
    readonly type: string,
    readonly content: Readable,
  ) {}
}

/** A reply with headers of its own. */
export class WithHeaders<T> {
  constructor(
    readonly value: T,
    readonly headers: Readonly<Record<string, string>>,
  ) {}
}

/** A reply that stays open. The live loop writes to it. */
export class OpenLine {
  constructor(readonly batch: string | null) {}
}
