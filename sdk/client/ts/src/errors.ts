import { advice, type ErrorCode } from "./generated.js";

/** An error that the node has answered with. */
export class WharfError extends Error {
  override readonly name = "WharfError";

  constructor(
    /** Of HTTP; 0 when it came within a stream. */
    readonly status: number,
    /** What is wrong, for programs; a newer node may have others. */
    readonly code: ErrorCode | (string & {}),
    /** What is wrong, for people. */
    readonly reason: string,
    /** The group that the code belongs to. */
    readonly type: string,
    /** The member, parameter or header that is wrong, "" if it is none. */
    readonly param: string,
    /** What to do about it. */
    readonly advice: string,
    /** Names the request in the node's log. */
    readonly requestId: string,
    /** More about it, where there is more to say. */
    readonly details: unknown,
    /** How many milliseconds the node asks to wait; 0 if it does not. */
    readonly retryAfter: number,
  ) {
    const lines = [`${code}: ${reason}${param && ` (${param})`}`, advice, requestId && `request ${requestId}`];
    super(lines.filter(Boolean).join("\n"));
  }
}

/** A stream that ended before the node has said that it does. */
export class CutError extends Error {
  override readonly name = "CutError";
}

/** The error in an answer of 400 and above. */
export async function errorOf(answer: Response): Promise<WharfError> {
  const text = await answer.text().catch(() => ""); // what is there will do
  return decode(text, answer.status, answer.headers.get("X-Request-Id") ?? "", after(answer.headers.get("Retry-After")));
}

/** The error that a stream holds. */
errorOf.text = (text: string): WharfError => decode(text, 0, "", 0);

function decode(text: string, status: number, requestId: string, retryAfter: number): WharfError {
  let said: Record<string, unknown> = {};
  try {
    said = JSON.parse(text)?.error ?? {};
  } catch {
    // something between the client and the node has answered
  }
  const word = (name: string): string => (typeof said[name] === "string" ? said[name] : "");
  const code = word("code");
  if (code === "") {
    const otherwise = "Check the URL, and what is between you and the node.";
    return new WharfError(status, `http_${status}`, `the answer has the status ${status}, and is not from a node`, "", "", otherwise, requestId, undefined, retryAfter);
  }
  return new WharfError(status, code, word("message"), word("type"), word("param"), advice[code] ?? "", word("request_id") || requestId, said["details"], retryAfter);
}

function after(header: string | null): number {
  if (!header) return 0;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(at - Date.now(), 0);
}

/** Whether it may help to connect a stream again. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof WharfError)) return !(error instanceof SyntaxError);
  return [502, 503, 504].includes(error.status) || ["service_unavailable", "rate_limited", "internal_error", "upstream_unavailable"].includes(error.code);
}
