import type { PlanRequest } from '../../../api-types.js';

/** What the switches say by now. The plan on the page was made with a request, which may be another one. */
export type Draft = {
  readonly realm: string;
  readonly map: string;
  readonly again: string;
  readonly newRowsOnly: boolean;
  readonly newAddress: boolean;
  readonly skipInvalid: boolean;
};

export const NOTHING_SAID: Draft = {
  realm: '',
  map: '',
  again: '',
  newRowsOnly: false,
  newAddress: false,
  skipInvalid: false,
};

export function requestOf({ realm, map, again, newRowsOnly, newAddress, skipInvalid }: Draft): PlanRequest {
  const columns = map.split(/\s+/).filter((pair) => pair !== '');
  return {
    ...(realm === '' ? {} : { realm }),
    ...(columns.length === 0 ? {} : { map: columns }),
    ...(again.trim() === '' ? {} : { again: again.trim() }),
    ...(newRowsOnly ? { newRowsOnly } : {}),
    ...(newAddress ? { newAddress } : {}),
    ...(skipInvalid ? { skipInvalid } : {}),
  };
}

/** Where files go and how their columns are called. All else was said of one file and would hide what the next warns of. */
export function keptForNext({ realm, map }: Draft): Draft {
  return { ...NOTHING_SAID, realm, map };
}
