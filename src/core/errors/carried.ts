import { AlmonerError, messageOf } from './error.js';

/** What became of work in another thread: between threads an error loses its class, and with it what it says. */
export type Carried<T> =
  | { readonly value: T }
  | { readonly refusal: Pick<AlmonerError, 'code' | 'message' | 'next' | 'details'> }
  | { readonly bug: string };

export async function carry<T>(work: () => T | Promise<T>): Promise<Carried<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!(error instanceof AlmonerError))
      return { bug: (error instanceof Error && error.stack) || messageOf(error) };
    const { code, message, next, details } = error;
    return { refusal: { code, message, next, details } };
  }
}

/** The value, or the error thrown again on this side. */
export function arrived<T>(carried: Carried<T>): T {
  if ('value' in carried) return carried.value;
  if ('bug' in carried) throw new Error(carried.bug);
  const { code, message, next, details } = carried.refusal;
  throw new AlmonerError(code, message, { next, details });
}
