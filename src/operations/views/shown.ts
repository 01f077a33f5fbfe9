import { isoTime } from '../../words/spelling.js';

/** A view as operations compute with it. `T` names its times, in milliseconds; `S` its sums of tokens, as bigint. */
export type Raw<V, T extends PropertyKey, S extends PropertyKey = never> = V extends readonly (infer E)[]
  ? readonly Raw<E, T, S>[]
  : V extends object
    ? {
        readonly [K in keyof V]: K extends T
          ? InsteadOfText<V[K], number>
          : K extends S
            ? InsteadOfText<V[K], bigint>
            : Raw<V[K], T, S>;
      }
    : V;

type InsteadOfText<V, N> = V extends string
  ? N
  : V extends object
    ? { readonly [K in keyof V]: InsteadOfText<V[K], N> }
    : V;

type Shown<R, T extends PropertyKey> = R extends bigint
  ? string
  : R extends string | number | boolean
    ? R
    : R extends readonly (infer E)[]
      ? readonly Shown<E, T>[]
      : R extends object
        ? { readonly [K in keyof R]: K extends T ? TimeShown<R[K]> : Shown<R[K], T> }
        : R;

type TimeShown<R> = R extends number ? string : R;

/** The view itself: times in ISO 8601, sums as digits. */
export function shown<R, T extends string = never>(raw: R, times: readonly T[] = []): Shown<R, T> {
  const isTime = new Set<string>(times);
  return JSON.parse(
    JSON.stringify(raw, (name, part: unknown) => {
      if (typeof part === 'bigint') return String(part);
      return typeof part === 'number' && isTime.has(name) ? isoTime(part) : part;
    }),
  );
}
