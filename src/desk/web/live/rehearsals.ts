import { useStore } from './store.js';
import { live } from './stream.js';

/** Tells by its name whether a realm is a rehearsal; orders and rules carry only the name. */
export function useIsRehearsal(): (realm: string) => boolean {
  const { overview } = useStore(live);
  const names = new Set(overview?.realms.filter(({ rehearsal }) => rehearsal).map(({ realm }) => realm));
  return (realm) => names.has(realm);
}
