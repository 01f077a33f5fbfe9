import type { Readable } from 'node:stream';
import { z } from 'zod';
import { AlmonerError } from '../../core/errors/error.js';
import { recordIn } from '../../operations/people/audit.js';
import type { Access } from '../../operations/people/tokens.js';
import type { Of } from '../../operations/views/values.js';
import type { Visitor } from './access/guard.js';
import type { Desk } from './desk.js';

/**
 * One entry of the table of routes. Handlers know no framework: they are given values of the right type and
 * return one. The OpenAPI document is made from the same entries.
 */
export type Method = 'GET' | 'POST' | 'DELETE';

export type Route = Schemas<z.ZodObject, z.ZodObject, z.ZodType, z.ZodType | string> & {
  readonly method: Method;
  /** `/api/batches/:batch` */
  readonly path: string;
  readonly access: Access;
  handle(desk: Desk, raw: RawRequest): Promise<unknown>;
};

type Schemas<P, Q, B, R> = {
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** A body that is no JSON but a file of this type. */
  readonly file?: string;
  /** What is answered, or the media type of a file or stream. */
  readonly reply: R;
};

/** Routes about one thing, as the OpenAPI document groups them. */
export type RouteGroup = {
  readonly tag: string;
  readonly description: string;
  readonly routes: readonly Route[];
};

type RawRequest = {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly visitor: Visitor | null;
  readonly address: string;
  readonly contentLength: number | null;
  /** Nobody waits for the answer any more. */
  isGone(): boolean;
};

type Given<P, Q, B> = {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Only `anyone` routes may meet nobody. */
  readonly visitor: Visitor;
  readonly raw: RawRequest;
  /** Adds to what the audit will say. */
  note(facts: AuditFacts): void;
};

type Description<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType | string,
> = Schemas<P, Q, B, R> & {
  /** The audit's line for what only the desk does. The operations write the lines of their changes themselves. */
  audit?: (given: Given<z.infer<P>, z.infer<Q>, z.infer<B>>) => AuditLine;
  handle(desk: Desk, given: Given<z.infer<P>, z.infer<Q>, z.infer<B>>): Answer<R> | Promise<Answer<R>>;
};

type Answer<R> = R extends z.ZodType ? Of<R> | WithHeaders<Of<R>> : Download | OpenLine;

type AuditLine = { readonly what: string; readonly batch: string | null };
/** What only the handler gets to know: the batches it was about, and how many orders and tokens. */
type AuditFacts = {
  readonly batches?: readonly string[];
  readonly orders?: number;
  readonly tokens?: string;
};

const EMPTY = z.object({});
const ANYTHING = z.unknown();

/** `route('GET /api/tasks/:task', 'viewer', {…})` */
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

function reasonIn(body: unknown): string | null {
  const parsed = z.object({ reason: z.string() }).safeParse(body);
  return parsed.success ? parsed.data.reason : null;
}

/** A part that no schema describes is not looked at; its type says so. */
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

/** An answer that is a file. The name is only a suggestion to the browser and holds no path. */
export class Download {
  constructor(
    readonly name: string,
    readonly type: string,
    readonly content: Readable,
  ) {}
}

/** An answer with headers of its own. */
export class WithHeaders<T> {
  constructor(
    readonly value: T,
    readonly headers: Readonly<Record<string, string>>,
  ) {}
}

/** The answer stays open and is written to by the live loop. */
export class OpenLine {
  constructor(readonly batch: string | null) {}
}
