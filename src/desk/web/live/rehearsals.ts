import { useStore } from './store.js';
import { live } from './stream.js';

/** Tells by its name whether a realm is a rehearsal; orders and rules carry only the name. */
export function useIsRehearsal(): (realm: string) => boolean {
  const { overview } = useStore(live);
  // Books of rehearsals that are over have no card; their batches still say what they were.
  const known = [...(overview?.realms ?? []), ...(overview?.batches ?? [])];
  const names = new Set(known.filter(({ rehearsal }) => rehearsal).map(({ realm }) => realm));
  return (realm) => names.has(realm);
}
