import { setTimeout as sleep } from 'node:timers/promises';

/**
 * One HTTP request that is tried a few times. Notices are about money but move none: telling twice is
 * harmless, so that any failure but a plain refusal is tried again. Redirects are not followed, because the
 * address is a secret.
 */
export type Delivery = {
  readonly method: 'POST' | 'PATCH';
  readonly url: string;
  readonly headers: () => Readonly<Record<string, string>>;
  readonly body: string;
};

export type Delivered =
  | { readonly ok: true; readonly body: string }
  | { readonly ok: false; readonly status: number | null };

export type DeliverOptions = {
  readonly attempts: number;
  readonly backoffMs: number;
  readonly stop: AbortSignal;
};

export const DELIVERY_TRIES = { attempts: 5, backoffMs: 1_000 } as const;
const ANSWER_MS = 10_000;
const WAIT_MAX_MS = 60_000;
const BODY_CHARACTERS_MAX = 64 * 1024;

export async function deliver(delivery: Delivery, options: DeliverOptions): Promise<Delivered> {
  let status: number | null = null;
  for (let attempt = 1; attempt <= options.attempts; attempt++) {
    let waitMs = options.backoffMs * 2 ** (attempt - 1);
    try {
      const response = await fetch(delivery.url, {
        method: delivery.method,
        headers: { 'content-type': 'application/json', 'user-agent': 'almoner', ...delivery.headers() },
        body: delivery.body,
        redirect: 'manual',
        signal: AbortSignal.any([options.stop, AbortSignal.timeout(ANSWER_MS)]),
      });
      status = response.status;
      const body = (await response.text()).slice(0, BODY_CHARACTERS_MAX);
      if (response.ok) return { ok: true, body };
      if (status < 500 && status !== 429 && status !== 408) return { ok: false, status };
      const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
      if (Number.isFinite(retryAfter)) waitMs = Math.max(waitMs, retryAfter * 1000);
    } catch {
      // No answer: nothing is known but that it should be tried again.
      status = null;
    }
    if (options.stop.aborted) break;
    if (attempt < options.attempts)
      await sleep(Math.min(waitMs, WAIT_MAX_MS), undefined, { signal: options.stop }).catch(() => {});
  }
  return { ok: false, status };
}
