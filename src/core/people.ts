/** What somebody with a token may do. Whoever has any of them may look. */
export const ROLES = ['viewer', 'operator', 'approver', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Somebody who is known by a token of their own. */
export type Person = { readonly name: string; readonly roles: readonly Role[] };

/** Whoever opened the desk by the link that it printed: nobody in particular. */
export const LOCAL_NAME = 'local';

/** The most that one person may pay within 24 hours without an approval; null: no limit of that kind, and both: none is required. */
export type Requirement = { readonly overTokens: number | null; readonly overRows: number | null };
