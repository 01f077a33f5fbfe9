import { setMaxListeners } from 'node:events';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** One HTTP exchange straight over a socket: no retries, no redirects, no decoding. */
export type BareReply = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body parsed as JSON; undefined if the body is empty. */
  readonly json: unknown;
};

export type BareRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged; any other value is sent as JSON. */
  readonly body?: unknown;
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
};

/** Rejects if the reply does not arrive completely. */
export function bareHttp(url: string, options: BareRequest = {}): Promise<BareReply> {
  const body =
    options.body === undefined || typeof options.body === 'string'
      ? options.body
      : JSON.stringify(options.body);
  const headers: Record<string, string> = { ...options.headers };
  if (body !== undefined) {
    headers['content-length'] = String(Buffer.byteLength(body));
    headers['content-type'] ??= 'application/json';
  }
  // Many requests of one test share a single abort signal.
  if (options.signal !== undefined) setMaxListeners(0, options.signal);
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: options.method ?? 'GET',
        headers,
        agent: options.agent ?? new Agent({ keepAlive: false }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: text === '' ? undefined : JSON.parse(text),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
