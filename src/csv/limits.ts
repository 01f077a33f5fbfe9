/** A limit on everything a file can grow in: what is beyond is refused with a clear fault, never tried. */
export type IntakeLimits = {
  readonly fileBytesMax: number;
  /** One record, quoted line breaks included. Also what an unclosed quote can swallow before it is noticed. */
  readonly recordBytesMax: number;
  readonly columnsMax: number;
  readonly rowsMax: number;
};

export const INTAKE_LIMITS: IntakeLimits = {
  fileBytesMax: 1024 ** 3,
  recordBytesMax: 1024 ** 2,
  columnsMax: 200,
  rowsMax: 5_000_000,
};
