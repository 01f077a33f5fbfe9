import type { Person } from '../../../core/people.js';
import type { ErrorReply, SessionReply, UploadReply } from '../../api/index.js';
import { createStore, useStore } from './store.js';

type Refused = {
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly details?: readonly string[];
};

/** A refused call, with the server's own message, code and next step. */
export class CallFailed extends Error {
  readonly code: string;
  readonly next: string;
  readonly details: readonly string[];

  constructor(
    readonly status: number,
    { code, message, next, details = [] }: Refused,
  ) {
    super(message);
    this.code = code;
    this.next = next;
    this.details = details;
  }
}

const UNREACHABLE = new CallFailed(0, {
  code: 'ALM_DESK_UNREACHABLE',
  message: 'The desk does not answer.',
  next: 'Check that `almoner serve` is running and that this machine can reach it, then try again.',
});

/**
 * A read that takes longer hangs on a dead connection. Changes have no limit: an aborted one may still have happened.
 */
const READ_TIMEOUT_MS = 30_000;

/**
 * Reads one document. The reply is taken as the type the route promises: pages and server are one build, and a test
 * compares the server's replies with the same types.
 */
export async function read<Reply>(path: string, signal?: AbortSignal): Promise<Reply> {
  const limit = AbortSignal.timeout(READ_TIMEOUT_MS);
  return exchange(path, { signal: signal === undefined ? limit : AbortSignal.any([signal, limit]) });
}

/** Changes something on the server. It never repeats a change: after an unclear end the person decides. */
export async function change<Reply>(
  path: string,
  body: unknown = {},
  method: 'POST' | 'DELETE' = 'POST',
): Promise<Reply> {
  return exchange(path, {
    method,
    headers: { 'content-type': 'application/json', 'x-almoner-csrf': csrfToken() },
    body: JSON.stringify(body),
  });
}

async function exchange<Reply>(path: string, init: RequestInit): Promise<Reply> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, credentials: 'same-origin', cache: 'no-store' });
  } catch (error) {
    if (init.signal?.aborted === true && !isTimeout(init.signal)) throw error;
    throw UNREACHABLE;
  }
  if (response.ok) return response.json();
  throw refusalFrom(response.status, await response.text().catch(() => ''));
}

function refusalFrom(status: number, text: string): CallFailed {
  const said = errorIn(text);
  const failed = new CallFailed(
    status,
    said ?? {
      code: `HTTP ${status}`,
      message: `The desk answered with status ${status}.`,
      next: 'Try again.',
    },
  );
  if (status === 401 && said?.code !== 'ALM_DESK_TOKEN_WRONG') {
    if (signedIn(session.get()) !== null) goodbye.set(failed.message);
    session.set(null);
  }
  return failed;
}

function errorIn(text: string): ErrorReply['error'] | null {
  try {
    const reply: Partial<ErrorReply> = JSON.parse(text);
    return reply.error ?? null;
  } catch {
    return null;
  }
}

function isTimeout(signal: AbortSignal): boolean {
  return signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
}

/** Turns anything thrown into a failure with a message and a next step. */
export function asFailure(error: unknown): CallFailed {
  if (error instanceof CallFailed) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new CallFailed(0, {
    code: 'ALM_DESK_PAGE',
    message: `The page stumbled: ${text}`,
    next: 'Reload it; nothing was changed.',
  });
}

/** Uploads a file as it is. It uses XMLHttpRequest, because fetch cannot report how much of a body was sent. */
export function upload(
  file: File,
  onProgress: (sentBytes: number) => void,
  signal: AbortSignal,
): Promise<UploadReply> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/api/uploads?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader('content-type', 'text/csv');
    request.setRequestHeader('x-almoner-csrf', csrfToken());
    request.upload.addEventListener('progress', (event) => onProgress(event.loaded));
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(refusalFrom(request.status, request.responseText));
    });
    request.addEventListener('error', () =>
      reject(
        new CallFailed(0, {
          code: 'ALM_DESK_UNREACHABLE',
          message: 'The upload broke off. Nothing was imported.',
          next: 'Check the connection and choose the file again.',
        }),
      ),
    );
    signal.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason);
    });
    request.send(file);
  });
}

/** The signed-in person; `asking` until the server has answered, null where nobody is signed in. */
export const session = createStore<SessionReply | null | 'asking'>('asking');
/** The sentence above the login form: why the session ended. */
export const goodbye = createStore('');

/** The person who is signed in. */
export function useMe(): Person {
  return signedIn(useStore(session)) ?? { name: '', roles: [] };
}

/** Whether the viewer may change things. */
export function useIsOperator(): boolean {
  return useMe().roles.includes('operator');
}

/** The person of a session, or null while asking and where nobody is signed in. */
export function signedIn(who: SessionReply | null | 'asking'): SessionReply | null {
  return who === 'asking' ? null : who;
}

function csrfToken(): string {
  return signedIn(session.get())?.csrf ?? '';
}
