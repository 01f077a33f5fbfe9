/** The roles of a desk token. A token with any role may read. */
export const ROLES = ['viewer', 'operator', 'approver', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** A person, identified by a desk token of their own. */
export type Person = { readonly name: string; readonly roles: readonly Role[] };

/** The name of a person who opened the desk by its printed one-time link. */
export const LOCAL_NAME = 'local';

/**
 * How much one person may pay within 24 hours without an approval. Null sets no limit of that kind; if both are null,
 * no approval is required.
 */
export type Requirement = { readonly overTokens: number | null; readonly overRows: number | null };
