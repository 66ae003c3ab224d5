import { numberOf, numberText } from "./number";

/** The host nests at most 200 levels deep. */
const MAX_DEPTH = 256;

const QUOTE = 0x22, BACKSLASH = 0x5c, COMMA = 0x2c, COLON = 0x3a;
const HEX = "0123456789abcdef";
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** A number or a truth value that can be missing. */
export class Some<T> {
  constructor(readonly value: T) {}
}

/**
 * A JSON value as it is written, with the digits of its numbers and the order of its members. What is
 * read of one that is not so is nothing: "", 0, no items.
 */
export class Json {
  /** The value is taken as it is: parse checks one. */
  constructor(readonly raw: string) {}

  /** The value null. */
  static get NULL(): Json { return new Json("null"); }

  /** The value that a text holds; nothing if it holds none. */
  static parse(text: string): Json | null {
    const r = new Reader(text), value = r.json();
    return r.done() ? value : null;
  }

  /** The value of an object that writes itself: one with a method write(w: Writer). */
  static of<T>(value: T): Json {
    const w = new Writer();
    value.write(w);
    return new Json(w.toString());
  }

  /** A text as a value. */
  static text(text: string): Json {
    const w = new Writer();
    w.text(text);
    return new Json(w.toString());
  }

  /** A number as a value. */
  static number(value: f64): Json { return new Json(numberText(value)); }

  /** A whole number as a value. */
  static integer(value: i64): Json { return new Json(value.toString()); }

  /** A truth value as a value. */
  static bool(value: bool): Json { return new Json(value ? "true" : "false"); }

  /** Whether there is nothing. */
  get isNull(): bool { return this.raw == "null"; }

  /** Whether it is a text. */
  get isText(): bool { return this.begins(QUOTE); }

  /** Whether it is an array. */
  get isArray(): bool { return this.begins(0x5b); }

  /** Whether it is an object. */
  get isObject(): bool { return this.begins(0x7b); }

  /** The text that it is. */
  get text(): string { return this.isText ? new Reader(this.raw).text() : ""; }

  /** The number that it is. */
  get number(): f64 { return new Reader(this.raw).number(); }

  /** The whole number that it is. */
  get integer(): i64 { return new Reader(this.raw).integer(); }

  /** Whether it is true. */
  get bool(): bool { return this.raw == "true"; }

  /** The items of an array. */
  get items(): Json[] { return this.isArray ? new Reader(this.raw).jsons() : []; }

  /** The members of an object. */
  get members(): Map<string, Json> { return this.isObject ? new Reader(this.raw).jsonMap() : new Map<string, Json>(); }

  /** A member of an object; null if it has none of the name. */
  get(name: string): Json {
    if (!this.isObject) return Json.NULL;
    const r = new Reader(this.raw);
    for (r.object(); r.member(); r.skip()) {
      if (r.name == name) return r.json();
    }
    return Json.NULL;
  }

  /** The value as an object that reads itself: one with a method read(r: Reader). */
  to<T>(): T { return new Reader(this.raw).into<T>(); }

  toString(): string { return this.raw; }

  private begins(c: i32): bool { return new Reader(this.raw).peek() == c; }
}

/** Writes JSON, in UTF-8. Commas come by themselves. */
export class Writer {
  private bytes: ArrayBuffer = new ArrayBuffer(256);
  private comma: bool = false; // a value came before in what is open
  length: i32 = 0;

  /** Where the bytes are. */
  get start(): usize { return changetype<usize>(this.bytes); }

  /** What was written. */
  toString(): string { return String.UTF8.decodeUnsafe(this.start, this.length); }

  object(): void { this.value(); this.byte(0x7b); this.comma = false; }
  endObject(): void { this.byte(0x7d); this.comma = true; }
  array(): void { this.value(); this.byte(0x5b); this.comma = false; }
  endArray(): void { this.byte(0x5d); this.comma = true; }

  /** Begins a member: its value comes next. */
  name(name: string): void {
    this.value();
    this.quoted(name);
    this.byte(COLON);
    this.comma = false;
  }

  text(text: string): void { this.value(); this.quoted(text); }
  bool(value: bool): void { this.value(); this.raw(value ? "true" : "false"); }
  integer(value: i64): void { this.value(); this.raw(value.toString()); }
  natural(value: u64): void { this.value(); this.raw(value.toString()); }

  /** A number as ECMAScript writes it. */
  number(value: f64): void { this.value(); this.raw(numberText(value)); }

  null(): void { this.value(); this.raw("null"); }
  json(value: Json): void { this.value(); this.raw(value.raw); }

  /** Bytes, as base64. */
  base64(bytes: Uint8Array): void {
    this.value();
    this.byte(QUOTE);
    for (let i = 0; i < bytes.length; i += 3) {
      const n = bytes.length - i;
      const word = (<u32>bytes[i] << 16) | (n > 1 ? <u32>bytes[i + 1] << 8 : 0) | (n > 2 ? <u32>bytes[i + 2] : 0);
      for (let digit = 0; digit < 4; digit++) {
        this.byte(digit <= n ? BASE64.charCodeAt((word >> (18 - 6 * digit)) & 63) : 0x3d);
      }
    }
    this.byte(QUOTE);
  }

  texts(all: string[]): void {
    this.array();
    for (let i = 0; i < all.length; i++) this.text(all[i]);
    this.endArray();
  }

  jsons(all: Json[]): void {
    this.array();
    for (let i = 0; i < all.length; i++) this.json(all[i]);
    this.endArray();
  }

  /** Objects that write themselves. */
  list<T>(all: T[]): void {
    this.array();
    for (let i = 0; i < all.length; i++) all[i].write(this);
    this.endArray();
  }

  /** Texts by name, in the order of the names, as all maps. */
  textMap(all: Map<string, string>): void {
    const names = sorted(all.keys());
    this.object();
    for (let i = 0; i < names.length; i++) { this.name(names[i]); this.text(all.get(names[i])); }
    this.endObject();
  }

  numberMap(all: Map<string, f64>): void {
    const names = sorted(all.keys());
    this.object();
    for (let i = 0; i < names.length; i++) { this.name(names[i]); this.number(all.get(names[i])); }
    this.endObject();
  }

  jsonMap(all: Map<string, Json>): void {
    const names = sorted(all.keys());
    this.object();
    for (let i = 0; i < names.length; i++) { this.name(names[i]); this.json(all.get(names[i])); }
    this.endObject();
  }

  /** Ends the line of a request that is followed by content. */
  line(content: Uint8Array): void {
    this.byte(0x0a);
    this.grow(content.length);
    memory.copy(this.start + this.length, content.dataStart, content.length);
    this.length += content.length;
  }

  private value(): void {
    if (this.comma) this.byte(COMMA);
    this.comma = true;
  }

  private byte(c: i32): void {
    this.grow(1);
    store<u8>(this.start + this.length++, c);
  }

  private grow(more: i32): void {
    if (this.length + more <= this.bytes.byteLength) return;
    const bigger = new ArrayBuffer(this.bytes.byteLength * 2 + more);
    memory.copy(changetype<usize>(bigger), this.start, this.length);
    this.bytes = bigger;
  }

  /** Half of a pair of UTF-16 that is alone becomes U+FFFD. */
  private raw(text: string): void {
    this.grow(text.length * 3);
    this.length += <i32>String.UTF8.encodeUnsafe(changetype<usize>(text), text.length, this.start + this.length, false, String.UTF8.ErrorMode.REPLACE);
  }

  private quoted(text: string): void {
    let from = 0;
    this.byte(QUOTE);
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c >= 0x20 && c != QUOTE && c != BACKSLASH) continue;
      if (from < i) this.raw(text.substring(from, i));
      this.escape(c);
      from = i + 1;
    }
    this.raw(from ? text.substring(from) : text);
    this.byte(QUOTE);
  }

  private escape(c: i32): void {
    this.byte(BACKSLASH);
    switch (c) {
      case 0x08: this.byte(0x62); return;
      case 0x09: this.byte(0x74); return;
      case 0x0a: this.byte(0x6e); return;
      case 0x0c: this.byte(0x66); return;
      case 0x0d: this.byte(0x72); return;
    }
    if (c >= 0x20) {
      this.byte(c);
      return;
    }
    this.raw("u00");
    this.byte(HEX.charCodeAt(c >> 4));
    this.byte(HEX.charCodeAt(c & 15));
  }
}

function sorted(names: string[]): string[] {
  return names.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/**
 * Takes one value after the other from a text. The first fault stays in error, and whatever is read
 * after it is nothing. A null is nothing, too.
 *
 *     const r = new Reader(text);
 *     for (r.object(); r.member();) {
 *       if (r.name == "count") count = r.integer();
 *       else r.skip();
 *     }
 *     if (!r.done()) ...
 */
export class Reader {
  /** What is wrong with the text; "" while nothing is. */
  error: string = "";
  /** The name of the member that member() has found. */
  name: string = "";
  private at: i32 = 0;
  private first: bool = false; // nothing of what was entered has been read
  private depth: i32 = 0;

  constructor(private source: string) {}

  /** The next character that is no white space; 0 at the end. */
  peek(): i32 {
    for (; this.at < this.source.length; this.at++) {
      const c = this.source.charCodeAt(this.at);
      if (c != 0x20 && c != 0x0a && c != 0x0d && c != 0x09) return c;
    }
    return 0;
  }

  /** Whether all was read, and nothing was wrong. */
  done(): bool {
    if (!this.error.length && this.peek()) this.wrong("something comes after the value");
    return !this.error.length;
  }

  /** Takes a null, if it is next. */
  takeNull(): bool { return this.peek() == 0x6e && this.word("null"); }

  /** Enters an object, whose members member() finds. */
  object(): bool { return this.enter(0x7b, "it is no object"); }

  /** Enters an array, whose items item() finds. */
  array(): bool { return this.enter(0x5b, "it is no array"); }

  /** Whether the object has another member: its name is in name, and its value comes next. */
  member(): bool {
    if (!this.more(0x7d)) return false;
    if (this.peek() != QUOTE) return this.wrong("a member has no name");
    this.name = this.text();
    if (this.peek() != COLON) return this.wrong("a colon is missing");
    this.at++;
    return true;
  }

  /** Whether the array has another item, which comes next. */
  item(): bool { return this.more(0x5d); }

  text(): string {
    if (this.takeNull()) return "";
    if (this.peek() != QUOTE) { this.wrong("it is no text"); return ""; }
    const from = this.at + 1, source = this.source;
    for (let i = from; i < source.length; i++) {
      const c = source.charCodeAt(i);
      if (c == BACKSLASH) return this.escaped(from, i);
      if (c < 0x20) { this.wrong("a text has a control character"); return ""; }
      if (c != QUOTE) continue;
      this.at = i + 1;
      return source.substring(from, i);
    }
    this.wrong("a text has no end");
    return "";
  }

  textOrNull(): string | null { return this.takeNull() ? null : this.text(); }

  bool(): bool {
    const c = this.peek();
    if (c == 0x74) return this.word("true");
    if (c == 0x66) { this.word("false"); return false; }
    if (!this.takeNull()) this.wrong("it is neither true nor false");
    return false;
  }

  /** A whole number. One that does not fit is a fault. */
  integer(): i64 {
    const from = this.peek() == 0x2d ? this.at + 1 : this.at, magnitude = this.whole();
    const negative = from > 0 && this.source.charCodeAt(from - 1) == 0x2d;
    if (magnitude > <u64>i64.MAX_VALUE + u64(negative)) this.wrong("a number is too large");
    return negative ? -(<i64>magnitude) : <i64>magnitude;
  }

  natural(): u64 {
    if (this.peek() == 0x2d) this.wrong("a number is negative");
    return this.whole();
  }

  number(): f64 {
    if (this.takeNull()) return 0;
    const from = this.digits();
    return this.error.length ? 0 : numberOf(this.source, from, this.at);
  }

  /** A value as it is written. */
  json(): Json {
    this.peek();
    const from = this.at;
    this.skip();
    return new Json(this.error.length ? "null" : this.source.substring(from, this.at));
  }

  base64(): Uint8Array {
    const bytes = fromBase64(this.text());
    if (bytes) return bytes;
    this.wrong("it is not base64");
    return new Uint8Array(0);
  }

  /** Reads past a value. */
  skip(): void {
    switch (this.peek()) {
      case QUOTE: this.text(); return;
      case 0x7b: for (this.object(); this.member(); ) this.skip(); return;
      case 0x5b: for (this.array(); this.item(); ) this.skip(); return;
      case 0x74: case 0x66: case 0x6e: this.bool(); return;
      default: this.digits();
    }
  }

  /** An object that reads itself. */
  into<T>(): T {
    const value = instantiate<T>();
    value.read(this);
    return value;
  }

  intoOrNull<T>(): T | null {
    if (this.takeNull()) return null;
    return this.into<T>();
  }

  /** Objects that read themselves. */
  list<T>(): T[] {
    const all: T[] = [];
    if (!this.takeNull()) for (this.array(); this.item(); ) all.push(this.into<T>());
    return all;
  }

  texts(): string[] {
    const all: string[] = [];
    if (!this.takeNull()) for (this.array(); this.item(); ) all.push(this.text());
    return all;
  }

  jsons(): Json[] {
    const all: Json[] = [];
    if (!this.takeNull()) for (this.array(); this.item(); ) all.push(this.json());
    return all;
  }

  textMap(): Map<string, string> {
    const all = new Map<string, string>();
    if (!this.takeNull()) for (this.object(); this.member(); ) { const name = this.name; all.set(name, this.text()); }
    return all;
  }

  numberMap(): Map<string, f64> {
    const all = new Map<string, f64>();
    if (!this.takeNull()) for (this.object(); this.member(); ) { const name = this.name; all.set(name, this.number()); }
    return all;
  }

  jsonMap(): Map<string, Json> {
    const all = new Map<string, Json>();
    if (!this.takeNull()) for (this.object(); this.member(); ) { const name = this.name; all.set(name, this.json()); }
    return all;
  }

  /** Makes a fault of what was read, for a reader of the plugin's own. */
  wrong(why: string): bool {
    if (!this.error.length) this.error = why;
    this.at = this.source.length;
    return false;
  }

  private enter(opening: i32, why: string): bool {
    if (this.peek() != opening) return this.wrong(why);
    if (++this.depth > MAX_DEPTH) return this.wrong("it nests too deep");
    this.at++;
    this.first = true;
    return true;
  }

  private more(closing: i32): bool {
    if (this.error.length) return false;
    const c = this.peek(), first = this.first;
    this.first = false;
    if (c == closing) {
      this.at++;
      this.depth--;
      return false;
    }
    if (!first) {
      if (c != COMMA) return this.wrong("a comma is missing");
      this.at++;
    }
    return true;
  }

  private word(word: string): bool {
    if (!this.source.startsWith(word, this.at)) return this.wrong("it is no JSON value");
    this.at += word.length;
    return true;
  }

  /** A text with escapes, of which the first is at an index. */
  private escaped(from: i32, i: i32): string {
    const source = this.source, parts: string[] = [];
    while (i < source.length) {
      const c = source.charCodeAt(i);
      if (c == QUOTE) {
        parts.push(source.substring(from, i));
        this.at = i + 1;
        return parts.join("");
      }
      if (c < 0x20) { this.wrong("a text has a control character"); return ""; }
      i++;
      if (c != BACKSLASH) continue;
      parts.push(source.substring(from, i - 1));
      const c2 = i < source.length ? source.charCodeAt(i++) : 0, stands = c2 == 0x75 ? hex4(source, i) : meant(c2);
      if (stands < 0) { this.wrong("a text has an escape that does not exist"); return ""; }
      parts.push(String.fromCharCode(stands));
      from = i = c2 == 0x75 ? i + 4 : i;
    }
    this.wrong("a text has no end");
    return "";
  }

  private whole(): u64 {
    if (this.takeNull()) return 0;
    const from = this.digits();
    let n: u64 = 0;
    for (let i = from; i < this.at && !this.error.length; i++) {
      const c = this.source.charCodeAt(i);
      if (c == 0x2d) continue;
      const digit = <u64>(c - 0x30);
      if (c < 0x30 || c > 0x39) this.wrong("it is no whole number");
      else if (n > (u64.MAX_VALUE - digit) / 10) this.wrong("a number is too large");
      else n = n * 10 + digit;
    }
    return this.error.length ? 0 : n;
  }

  /** Reads past a number, and returns where it began. */
  private digits(): i32 {
    let c = this.peek();
    const from = this.at;
    if (c == 0x2d) { this.at++; c = this.here(); }
    if (c == 0x30) this.at++;
    else this.run();
    if (this.here() == 0x2e) { this.at++; this.run(); }
    if ((this.here() | 0x20) == 0x65) {
      this.at++;
      if (this.here() == 0x2b || this.here() == 0x2d) this.at++;
      this.run();
    }
    return from;
  }

  private here(): i32 { return this.at < this.source.length ? this.source.charCodeAt(this.at) : 0; }

  /** Reads past digits, of which there has to be one. */
  private run(): void {
    const from = this.at;
    while (this.here() >= 0x30 && this.here() <= 0x39) this.at++;
    if (this.at == from) this.wrong("it is no JSON value");
  }
}

/** What an escape of one letter means; -1 for one that there is not. */
function meant(c: i32): i32 {
  switch (c) {
    case 0x62: return 0x08;
    case 0x66: return 0x0c;
    case 0x6e: return 0x0a;
    case 0x72: return 0x0d;
    case 0x74: return 0x09;
    case QUOTE: case BACKSLASH: case 0x2f: return c;
  }
  return -1;
}

/** The number of four digits; -1 if there are not so many. */
function hex4(text: string, at: i32): i32 {
  let n = 0;
  if (at + 4 > text.length) return -1;
  for (let i = 0; i < 4; i++) {
    const c = text.charCodeAt(at + i) | 0x20, digit = c >= 0x61 && c <= 0x66 ? c - 0x57 : c >= 0x30 && c <= 0x39 ? c - 0x30 : -1;
    if (digit < 0) return -1;
    n = (n << 4) | digit;
  }
  return n;
}

function fromBase64(text: string): Uint8Array | null {
  if (text.length % 4) return null;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  for (let i = 0; i < text.length; i += 4) {
    let word: u32 = 0;
    for (let j = i; j < i + 4; j++) {
      const digit = j >= text.length - padding ? 0 : BASE64.indexOf(text.charAt(j));
      if (digit < 0) return null;
      word = (word << 6) | digit;
    }
    for (let j = 0; j < 3 && (i / 4) * 3 + j < bytes.length; j++) bytes[(i / 4) * 3 + j] = <u8>(word >> (16 - 8 * j));
  }
  return bytes;
}
