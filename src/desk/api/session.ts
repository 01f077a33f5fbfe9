import { z } from 'zod';
import { ROLES } from '../../core/people.js';
import { type Of, Reason, time } from '../../operations/views/values.js';

/** Signing in, and what every error looks like. */

export const ErrorReply = z.strictObject({
  error: Reason.extend({
    code: Reason.shape.code.describe('Stable; docs/reference/errors.md lists all.'),
    details: z.array(z.string()),
  }),
});
export type ErrorReply = Of<typeof ErrorReply>;

export const Done = z.strictObject({ done: z.literal(true) });

export const LoginRequest = z.object({ token: z.string().trim().min(1).max(200) });

export const SessionReply = z.strictObject({
  name: z.string(),
  roles: z.array(z.enum(ROLES)),
  csrf: z.string().describe('Goes into the header `x-almoner-csrf` of every change; empty with a token.'),
  idleUntil: time.describe('Without a request until then the session ends.'),
  endsAt: time.describe('The session ends then in any case.'),
  version: z.string(),
});
export type SessionReply = Of<typeof SessionReply>;
