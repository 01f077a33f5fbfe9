/** Signing in, and what every error looks like. */

export type ErrorReply = {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly next: string;
    readonly details: readonly string[];
  };
};
export type Done = { readonly done: true };

export type Role = 'viewer' | 'operator';
export type LoginRequest = { readonly token: string };
export type SessionReply = {
  readonly name: string;
  readonly role: Role;
  readonly csrf: string;
  /** Without a request until then the session ends; the absolute end comes in any case. */
  readonly idleUntil: string;
  readonly endsAt: string;
  readonly version: string;
};
