/**
 * An exact number with a fraction: 0.29 is 29/100. Binary fractions cannot be rounded to points: 0.29 * 100 gives
 * 28.999999999999996. A tolerance for that error would take a true 500000000.6 for a whole number.
 */
export class Fraction {
  constructor(
    readonly numerator: bigint,
    /** Always above zero. */
    readonly denominator: bigint,
  ) {}

  /**
   * Reads `1.5`, `-.5`, `2e3`. Returns undefined for text that is no number, and for exponents that would make more
   * than 400 digits.
   */
  static parse(text: string): Fraction | undefined {
    const match = WRITTEN.exec(text.trim());
    if (match === null || text.length > CHARACTERS_MAX) return undefined;
    const [, sign = '', whole = '', decimals = '', exponent = '0'] = match;
    const shift = Number(exponent) - decimals.length;
    if (whole + decimals === '' || Math.abs(shift) > CHARACTERS_MAX) return undefined;
    const digits = BigInt(`${whole}${decimals}`) * (sign === '-' ? -1n : 1n);
    return shift < 0
      ? new Fraction(digits, 10n ** BigInt(-shift))
      : new Fraction(digits * 10n ** BigInt(shift), 1n);
  }

  static of(number: bigint | Fraction): Fraction {
    return number instanceof Fraction ? number : new Fraction(number, 1n);
  }

  plus(other: Fraction): Fraction {
    return new Fraction(
      this.numerator * other.denominator + other.numerator * this.denominator,
      this.denominator * other.denominator,
    );
  }

  times(other: Fraction): Fraction {
    return new Fraction(this.numerator * other.numerator, this.denominator * other.denominator);
  }

  negated(): Fraction {
    return new Fraction(-this.numerator, this.denominator);
  }

  /** Returns undefined for zero. */
  inverse(): Fraction | undefined {
    if (this.numerator === 0n) return undefined;
    return this.numerator > 0n
      ? new Fraction(this.denominator, this.numerator)
      : new Fraction(-this.denominator, -this.numerator);
  }

  /** Returns -1, 0 or 1, as a sort comparison does. */
  compare(other: Fraction): -1 | 0 | 1 {
    const left = this.numerator * other.denominator;
    const right = other.numerator * this.denominator;
    return left < right ? -1 : left > right ? 1 : 0;
  }

  floor(): bigint {
    const cut = this.numerator / this.denominator;
    return this.numerator < 0n && this.numerator % this.denominator !== 0n ? cut - 1n : cut;
  }

  ceil(): bigint {
    return -this.negated().floor();
  }

  /** Rounds half up, as people do. */
  round(): bigint {
    return new Fraction(this.numerator * 2n + this.denominator, this.denominator * 2n).floor();
  }

  /** Writes the number as a decimal. A decimal that does not end is cut after 15 places and marked with `…`. */
  toString(): string {
    const scaled = (this.numerator < 0n ? -this.numerator : this.numerator) * SHOWN;
    const digits = String(scaled / this.denominator).padStart(DECIMALS_SHOWN + 1, '0');
    const rest = scaled % this.denominator === 0n ? '' : '…';
    const decimals = digits.slice(-DECIMALS_SHOWN);
    const shown = rest === '' ? decimals.replace(/0+$/, '') : decimals;
    const whole = `${this.numerator < 0n ? '-' : ''}${digits.slice(0, -DECIMALS_SHOWN)}`;
    return shown === '' ? whole : `${whole}.${shown}${rest}`;
  }
}

const WRITTEN = /^([-+]?)([0-9]*)(?:\.([0-9]*))?(?:e([-+]?[0-9]{1,4}))?$/i;
/** Neither the largest nor the smallest double needs more digits. */
const CHARACTERS_MAX = 400;
const DECIMALS_SHOWN = 15;
const SHOWN = 10n ** BigInt(DECIMALS_SHOWN);
