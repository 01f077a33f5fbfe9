/** One cookie, readable by no script, sent to no other site. */
export type CookieRules = {
  /** `__Host-` where the connection is encrypted: no other name under the domain can set it. */
  readonly name: string;
  readonly secure: boolean;
};

/** Cookies know no ports: two desks on one machine would sign each other's people out under one name. */
export function cookieRules(secure: boolean, port: number): CookieRules {
  return secure ? { name: '__Host-almoner-desk', secure } : { name: `almoner-desk-${port}`, secure };
}

export function setCookie(rules: CookieRules, value: string, maxAgeMs: number): string {
  const age = Math.floor(maxAgeMs / 1000);
  const secure = rules.secure ? '; Secure' : '';
  return `${rules.name}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
}

export function readCookie(header: string | undefined, rules: CookieRules): string | null {
  for (const part of (header ?? '').split(';')) {
    const cut = part.indexOf('=');
    if (part.slice(0, cut).trim() === rules.name) {
      const value = part.slice(cut + 1).trim();
      // Ours are 43 characters; anything else is not worth a look into the store.
      return /^[\w-]{43}$/.test(value) ? value : null;
    }
  }
  return null;
}
