import { closest, distance } from 'fastest-levenshtein';

/** Names that are right elsewhere and miss by meaning, not by spelling. */
const SYNONYMS: Readonly<Record<string, string>> = {
  url: 'baseUrl',
  id: 'realmId',
  currency: 'realmPointId',
  pointid: 'realmPointId',
  scheme: 'authScheme',
  redis: 'redisUrl',
  data: 'dataFolder',
  reports: 'reportsFolder',
  jobs: 'jobsFolder',
  recipient: 'recipientAs',
  balance: 'balancePath',
};

/** ` – did you mean "rate"?`, or nothing when no name is near enough to be meant. */
export function didYouMean(word: string, names: readonly string[]): string {
  const synonym = SYNONYMS[word.toLowerCase()];
  if (synonym !== undefined && names.includes(synonym)) return ` – did you mean "${synonym}"?`;
  if (names.length === 0) return '';
  const lower = new Map(names.map((name) => [name.toLowerCase(), name]));
  const best = closest(word.toLowerCase(), [...lower.keys()]);
  const near = distance(word.toLowerCase(), best) <= Math.max(2, Math.floor(word.length / 3));
  return near ? ` – did you mean "${lower.get(best) ?? best}"?` : '';
}
