import { z } from 'zod';
import { ErrorReply } from '../../../src/desk/api/session.js';
import type { Route } from '../../../src/desk/http/route.js';
import { ROUTES } from '../../../src/desk/http/routes.js';

/** Routes that have answered, so that a test can check that all of them have. */
export const answered = new Set<string>();

/** Throws if a reply differs from what the desk's API document promises, even by one extra field. */
export function checkReply(reply: {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly text: string;
}): void {
  const { method, status, text } = reply;
  const { pathname } = new URL(reply.url);
  const route = ROUTES.find((one) => one.method === method && patternOf(one).test(pathname));
  if (route === undefined) return;
  const schema = status < 400 ? route.reply : ErrorReply;
  if (schema instanceof z.ZodType) {
    const parsed = schema.safeParse(JSON.parse(text));
    if (!parsed.success)
      throw new Error(`${method} ${route.path} answered ${status}, and not as told: ${parsed.error.message}`);
  }
  if (status < 400) answered.add(`${method} ${route.path}`);
}

function patternOf({ path }: Route): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
}
