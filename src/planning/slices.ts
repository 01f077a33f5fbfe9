/**
 * About two hundred slices of the time that the run is expected to take. Of one that is over in seconds each holds some
 * orders: finer ones would only be empty.
 */
export function sliceMsOf(expectedMs: number, rows: number): number {
  const seconds = Math.ceil(expectedMs / 200 / 1_000);
  if (seconds > 1) return seconds * 1_000;
  const fewOrdersMs = (5 * expectedMs) / Math.max(1, rows);
  return Math.min(1_000, Math.ceil(Math.max(50, expectedMs / 200, fewOrdersMs) / 50) * 50);
}
