/**
 * Memoizes the result for the last argument, compared by identity. The desk requests the same snapshot again and
 * again while it does not change.
 */
export function memoizeLast<Of, Found>(work: (of: Of) => Found): (of: Of) => Found {
  let last: { readonly of: Of; readonly found: Found } | null = null;
  return (of) => {
    if (last === null || last.of !== of) last = { of, found: work(of) };
    return last.found;
  };
}
