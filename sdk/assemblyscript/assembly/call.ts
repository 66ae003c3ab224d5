import { end } from "./end";
import { Reader, Writer } from "./json";

@external("wharf", "read")
declare function hostRead(to: usize, length: usize): u32;

/** How the host answered a call that failed. A newer host may know others. */
export enum Status {
  OK = 0,
  /** The request is malformed. */
  INVALID = 1,
  /** Policy forbids it. */
  DENIED = 2,
  /** What it names does not exist, or not for this Task. */
  NOT_FOUND = 3,
  /** A limit on size or count. */
  TOO_LARGE = 4,
  /** The host could not do it now. */
  UNAVAILABLE = 5,
  /** The node died while it was done: nobody knows whether it was, and doing it again is not safe. */
  INDETERMINATE = 6,
  /** Nobody answered, or nothing happened, in time. */
  TIMEOUT = 7,
  /** The answer cannot be read. */
  UNREADABLE = 100,
}

/** How a call was held back. */
export enum Withheld {
  /** It was not: it was made. */
  NO,
  /** The tier suggest has made a proposal of it. */
  PROPOSED,
  /** The tier shadow has left it out. */
  SHADOW,
}

/** A host call that failed. */
export class CallError {
  constructor(
    /** The name of the host call. */
    readonly call: string,
    readonly status: Status,
    /** For programs. */
    readonly code: string,
    /** For people. */
    readonly message: string,
  ) {}

  /** How the call was held back, if that is why it failed. */
  get withheld(): Withheld {
    if (this.status != Status.DENIED) return Withheld.NO;
    if (this.code == "proposed") return Withheld.PROPOSED;
    return this.code == "shadow" ? Withheld.SHADOW : Withheld.NO;
  }

  toString(): string { return this.call + ": " + this.message + (this.code.length ? " (" + this.code + ")" : ""); }
}

/** The answer of a host call, or how it failed. */
export class Result<T> {
  constructor(
    private answer: T | null,
    /** How it failed; null if it did not. */
    readonly error: CallError | null,
  ) {}

  /** The answer. If the call has failed, the Task ends with that failure. */
  get value(): T {
    const error = this.error;
    if (error) endWith(error);
    return this.answer!;
  }
}

/** Ends the Task with the failure of a call. */
export function endWith(error: CallError): void { end(error.toString()); }

/** The bytes of a request. */
export function written<T>(request: T): Writer {
  const w = new Writer();
  request.write(w);
  return w;
}

/** The answer of a call, as it is. */
export function content(call: string, result: u64): Result<Uint8Array> {
  const bytes = new Uint8Array(<i32>result), status = <i32>(result >> 32);
  hostRead(bytes.dataStart, bytes.length);
  if (!status) return new Result<Uint8Array>(bytes, null);
  return new Result<Uint8Array>(null, refused(call, status, textOf(bytes)));
}

/** How a call failed that answers nothing. One that was held back has not. */
export function told(call: string, result: u64): CallError | null {
  const error = content(call, result).error;
  return error && error.withheld ? null : error;
}

/** The answer of a call, read. */
export function answered<T>(call: string, result: u64): Result<T> {
  const got = content(call, result), error = got.error;
  return error ? new Result<T>(null, error) : understood<T>(call, got.value);
}

/** The answer of a call that can be held back, and then is empty and says so. */
export function answeredOrWithheld<T>(call: string, result: u64): Result<T> {
  const got = content(call, result), error = got.error;
  if (!error) return understood<T>(call, got.value);
  if (!error.withheld) return new Result<T>(null, error);
  const nothing = instantiate<T>();
  nothing.withheld = error.withheld;
  return new Result<T>(nothing, null);
}

function understood<T>(call: string, bytes: Uint8Array): Result<T> {
  const r = new Reader(textOf(bytes)), answer = r.into<T>();
  if (r.done()) return new Result<T>(answer, null);
  return new Result<T>(null, new CallError(call, Status.UNREADABLE, "plugin_error", "reading the answer: " + r.error));
}

function refused(call: string, status: i32, answer: string): CallError {
  const r = new Reader(answer);
  let code = "", message = "";
  for (r.object(); r.member(); ) {
    if (r.name == "code") code = r.text();
    else if (r.name == "message") message = r.text();
    else r.skip();
  }
  return new CallError(call, status, code, message.length ? message : about(status));
}

function about(status: i32): string {
  switch (status) {
    case Status.INVALID: return "the request is malformed";
    case Status.DENIED: return "policy forbids it";
    case Status.NOT_FOUND: return "it does not exist";
    case Status.TOO_LARGE: return "it is too large";
    case Status.UNAVAILABLE: return "the host could not do it now";
    case Status.INDETERMINATE: return "it is not known whether it was done";
    case Status.TIMEOUT: return "it took too long";
  }
  return "the host answered with the status " + status.toString();
}

/** Bytes of UTF-8 as a text. */
export function textOf(bytes: Uint8Array): string { return String.UTF8.decodeUnsafe(bytes.dataStart, bytes.length); }
