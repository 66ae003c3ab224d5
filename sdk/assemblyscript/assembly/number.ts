// Doubles as texts: as ECMAScript writes them, exactly. The library's own toString is off in the last
// digit for some, and records of plugins in other languages would differ from it.

/** A natural number of any length, least word first. */
class Big {
  private words: StaticArray<u32> = new StaticArray<u32>(160);
  count: i32 = 0;

  constructor(value: u64) {
    for (; value; value >>= 32) this.words[this.count++] = <u32>value;
  }

  copy(): Big {
    const other = new Big(0);
    for (let i = 0; i < this.count; i++) other.words[i] = this.words[i];
    other.count = this.count;
    return other;
  }

  /** this = this * factor + summand */
  multiply(factor: u32, summand: u32): void {
    let carry: u64 = summand;
    for (let i = 0; i < this.count; i++) {
      carry += <u64>this.words[i] * factor;
      this.words[i] = <u32>carry;
      carry >>= 32;
    }
    if (carry) this.words[this.count++] = <u32>carry;
  }

  powerOf10(n: i32): void {
    for (; n >= 9; n -= 9) this.multiply(1000000000, 0);
    for (; n > 0; n--) this.multiply(10, 0);
  }

  shift(bits: i32): void {
    for (; bits >= 31; bits -= 31) this.multiply(1 << 31, 0);
    if (bits > 0) this.multiply(1 << bits, 0);
  }

  halve(): void {
    let low: u32 = 0;
    for (let i = this.count - 1; i >= 0; i--) {
      const word = this.words[i];
      this.words[i] = (word >> 1) | (low << 31);
      low = word & 1;
    }
    this.trim();
  }

  compare(other: Big): i32 {
    if (this.count != other.count) return this.count < other.count ? -1 : 1;
    for (let i = this.count - 1; i >= 0; i--) {
      if (this.words[i] != other.words[i]) return this.words[i] < other.words[i] ? -1 : 1;
    }
    return 0;
  }

  add(other: Big): void {
    let carry: u64 = 0;
    for (let i = 0; i < other.count || carry; i++) {
      if (i >= this.count) this.words[this.count++] = 0;
      carry += <u64>this.words[i] + (i < other.count ? other.words[i] : 0);
      this.words[i] = <u32>carry;
      carry >>= 32;
    }
  }

  /** this = this - other, which is not more */
  subtract(other: Big): void {
    let borrow: u64 = 0;
    for (let i = 0; i < this.count; i++) {
      const take = borrow + (i < other.count ? other.words[i] : 0);
      borrow = u64(<u64>this.words[i] < take);
      this.words[i] = <u32>(<u64>this.words[i] - take);
    }
    this.trim();
  }

  get bits(): i32 {
    return this.count ? this.count * 32 - <i32>clz(this.words[this.count - 1]) : 0;
  }

  private trim(): void {
    while (this.count && !this.words[this.count - 1]) this.count--;
  }
}

/** mantissa * 2^exponent, for a result that is exact. */
function assembled(mantissa: u64, exponent: i32): f64 {
  const implicit: u64 = 1 << 52;
  if (!mantissa) return 0;
  if (mantissa == implicit << 1) { // it was rounded up to one bit more
    mantissa = implicit;
    exponent++;
  }
  while (mantissa < implicit && exponent > -1074) {
    mantissa <<= 1;
    exponent--;
  }
  if (mantissa < implicit) return reinterpret<f64>(mantissa);
  if (exponent > 971) return Infinity;
  return reinterpret<f64>((mantissa & (implicit - 1)) | (<u64>(exponent + 1075) << 52));
}

/** The double that is nearest to digits * 10^exponent; of two as near, the even one. */
function nearestTo(digits: Big, exponent: i32): f64 {
  const top = digits, bottom = new Big(1);
  if (!top.count) return 0;
  if (exponent > 0) top.powerOf10(exponent);
  else bottom.powerOf10(-exponent);
  let e = max(top.bits - bottom.bits - 54, -1075); // so that the quotient has 54 or 55 bits
  if (e > 0) bottom.shift(e);
  else top.shift(-e);
  let quotient: u64 = 0;
  let bits = max(top.bits - bottom.bits, 0);
  bottom.shift(bits);
  for (; ; bits--) {
    quotient <<= 1;
    if (top.compare(bottom) >= 0) {
      top.subtract(bottom);
      quotient |= 1;
    }
    if (!bits) break;
    bottom.halve();
  }
  let more = top.count != 0;
  while (quotient >= 1 << 54) {
    more = more || (quotient & 1) != 0;
    quotient >>= 1;
    e++;
  }
  const up = (quotient & 1) != 0 && (more || (quotient & 2) != 0);
  return assembled((quotient >> 1) + u64(up), e + 1);
}

/** What a number of JSON's grammar is, from one index of a text up to another. */
export function numberOf(text: string, from: i32, to: i32): f64 {
  let at = from, mantissa: u64 = 0, count = 0, exponent = 0, dropped = false, point = false;
  const negative = text.charCodeAt(at) == 0x2d;
  if (negative) at++;
  const first = at;
  for (; at < to; at++) {
    const c = text.charCodeAt(at);
    if (c == 0x2e) {
      point = true;
      continue;
    }
    if (c < 0x30 || c > 0x39) break;
    if (point) exponent--;
    if (count == 19) {
      dropped = true;
      continue;
    }
    mantissa = mantissa * 10 + (c - 0x30);
    if (mantissa) count++;
  }
  const last = at;
  exponent += exponentOf(text, at, to);
  let value: f64;
  if (!mantissa) value = 0;
  else if (!dropped && mantissa < 1 << 53 && abs(exponent) <= 22) value = exponent < 0 ? <f64>mantissa / power(-exponent) : <f64>mantissa * power(exponent);
  else value = slowNumber(text, first, last, exponent);
  return negative ? -value : value;
}

/** The number behind the e; one that is beyond all doubles stays so. */
function exponentOf(text: string, at: i32, to: i32): i32 {
  if (at >= to) return 0;
  const sign = text.charCodeAt(++at);
  if (sign == 0x2b || sign == 0x2d) at++;
  let n = 0;
  for (; at < to; at++) n = min(n * 10 + text.charCodeAt(at) - 0x30, 100000000);
  return sign == 0x2d ? -n : n;
}

/** More digits than these decide nothing but whether there is something more. */
const SIGNIFICANT = 800;

function slowNumber(text: string, from: i32, to: i32, exponent: i32): f64 {
  const digits = new Big(0);
  let count = 0, more = false;
  for (let at = from; at < to; at++) {
    const c = text.charCodeAt(at);
    if (c == 0x2e) continue;
    if (count == SIGNIFICANT) {
      more = more || c != 0x30;
      exponent++;
      continue;
    }
    if (count || c != 0x30) {
      count++;
      digits.multiply(10, c - 0x30);
    }
  }
  if (count + exponent > 310) return Infinity;
  if (count + exponent < -330) return 0;
  if (more) {
    digits.multiply(10, 1);
    exponent--;
  }
  return nearestTo(digits, exponent);
}

/** 10^n, which is exact up to 22. */
function power(n: i32): f64 {
  let p: f64 = 1;
  for (; n > 0; n--) p *= 10;
  return p;
}

/** The digits of a number, and the exponent of the first. */
class Decimal {
  constructor(readonly digits: string, readonly first: i32) {}
}

/** The fewest digits that are read as the number again. It is positive. */
function shortest(value: f64): Decimal {
  if (value >= 1e-5 && value < 1e15) {
    for (let places = 0; places <= 15; places++) {
      const p = power(places), n = nearest(value * p);
      if (n >= 1e15) break; // two of so many digits may be the same double
      if (n / p == value) {
        const digits = (<u64>n).toString();
        return new Decimal(digits, digits.length - 1 - places);
      }
    }
  }
  for (let count = 1; count < 17; count++) {
    const d = rounded(value, count), all = new Big(0);
    for (let i = 0; i < count; i++) all.multiply(10, d.digits.charCodeAt(i) - 0x30);
    if (nearestTo(all, d.first - count + 1) == value) return d;
  }
  return rounded(value, 17);
}

/** So many digits of a number that is positive, rounded to the nearest. */
function rounded(value: f64, count: i32): Decimal {
  const bits = reinterpret<u64>(value), implicit: u64 = 1 << 52;
  let mantissa = bits & (implicit - 1), e = <i32>(bits >> 52);
  if (e) mantissa |= implicit;
  else e = 1;
  e -= 1075;
  const top = 64 - <i32>clz(mantissa) + e; // value < 2^top
  for (let first = ((top - 1) * 30103) / 100000 - i32(top <= 0); ; first++) { // at most one too small
    const n = new Big(mantissa), d = new Big(1);
    if (e > 0) n.shift(e);
    else d.shift(-e);
    const up = count - 1 - first;
    if (up > 0) n.powerOf10(up);
    else d.powerOf10(-up);
    n.multiply(2, 0); // (2n + d) / 2d is the nearest
    n.add(d);
    d.multiply(2, 0);
    const most = d.copy();
    most.powerOf10(count);
    if (n.compare(most) >= 0) continue; // a digit too many
    let quotient: u64 = 0;
    for (let i = max(n.bits - d.bits, 0); i >= 0; i--) {
      const part = d.copy();
      part.shift(i);
      quotient <<= 1;
      if (n.compare(part) < 0) continue;
      n.subtract(part);
      quotient |= 1;
    }
    return new Decimal(quotient.toString().padStart(count, "0"), first);
  }
}

/** A number as ECMAScript writes it. One that is not finite is null. */
export function numberText(value: f64): string {
  if (!isFinite(value)) return "null";
  if (value == 0) return "0";
  if (value < 0) return "-" + numberText(-value);
  if (value < 9007199254740992 && value == trunc(value)) return (<u64>value).toString();
  const decimal = shortest(value), first = decimal.first, digits = withoutZeros(decimal.digits);
  if (first >= 21 || first < -6) {
    const sign = first < 0 ? "e-" : "e+", rest = digits.length > 1 ? "." + digits.substring(1) : "";
    return digits.charAt(0) + rest + sign + abs(first).toString();
  }
  if (first < 0) return "0." + "0".repeat(-first - 1) + digits;
  if (digits.length <= first + 1) return digits.padEnd(first + 1, "0");
  return digits.substring(0, first + 1) + "." + digits.substring(first + 1);
}

function withoutZeros(digits: string): string {
  let length = digits.length;
  while (length > 1 && digits.charCodeAt(length - 1) == 0x30) length--;
  return digits.substring(0, length);
}
