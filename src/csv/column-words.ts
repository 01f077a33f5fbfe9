import { show } from '../core/visible.js';
import { utcMinute } from '../words/spelling.js';
import type { Finding, FoundColumns, TakenBy } from './row.js';

/** Describes the meaning of each column, how it was found if not by its exact name, and the unused columns. */
export function columnsWords({ columns, headerLine, kept }: FoundColumns): string {
  const taken = columns.flatMap(({ name, meaning, by }) =>
    meaning === null || meaning === 'order'
      ? []
      : [`${meaning} from ${show(name)}${by === null ? '' : HOW_TAKEN[by]}`],
  );
  const others = columns.filter(({ meaning }) => meaning === null).map(({ name }) => show(name));
  return [
    taken.join(', ') || 'no known column',
    ...(others.length === 0 ? [] : [`not used: ${others.join(', ')}`]),
    ...(headerLine === 1 ? [] : [`header on line ${headerLine}`]),
    ...(kept === null || kept.pairs.every(({ effect }) => effect === 'none' || effect === 'refused')
      ? []
      : [`kept: as ${kept.who} said on ${utcMinute(kept.at)} (--forget-map deletes it)`]),
  ].join('; ');
}

const HOW_TAKEN: Readonly<Record<TakenBy, string>> = {
  name: '',
  like: ' (by its name)',
  said: ' (as you say)',
  kept: ' (kept)',
  profile: ' (as the realm’s profile says)',
  members: ' (by the table of members)',
};

/** One warning or fault with its place, for people. */
export function findingWords(
  { line, column, code, message }: Finding,
  paint: (place: string) => string = (place) => place,
): string {
  const place = line === 0 ? 'file' : `line ${line}${column === null ? '' : `, ${column}`}`;
  return `${paint(place)}: ${message} [${code}]`;
}
