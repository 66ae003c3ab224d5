import type { SigningKey } from "./generated.js";

/** A receipt that does not hold, and why. */
export class ReceiptError extends Error {
  override readonly name = "ReceiptError";
}

/** What a receipt that holds says. */
export interface VerifiedReceipt {
  receiptId: string;
  /** That the next receipt of the Workspace follows. */
  hash: string;
  /** The hash of the receipt before; null for the first. */
  previous: string | null;
  /** The id of what it proves something of. */
  subject: string;
  issuedAt: string;
  /** The ids of the keys that have signed it. */
  signers: string[];
  /** All that it says. */
  members: Record<string, unknown>;
}

const format = "receipt-2026-04-25";
const grace = 60_000; // how far a signature may lie outside the time in which its key was in use

/**
 * Checks the bytes of a receipt: that they are the canonical form (RFC 8785) of one of the format receipt-2026-04-25, that its hash is that of
 * what it says, and that every signature by one of the keys holds and was made while the key was in use, that of the key which the receipt names
 * among them. Whoever fetches keys and receipt from one node learns that they fit together; for more, keep the keys from a time when you trusted
 * the node. That the receipt follows its closed schema, and that its root is that of the Task's record, is checked by the node (receipts.ask)
 * and by wharf verify.
 */
export async function verifyReceipt(wire: Uint8Array, keys: readonly SigningKey[]): Promise<VerifiedReceipt> {
  try {
    return await verify(wire, keys);
  } catch (error) { // such as one of lists in lists, deeper than the stack
    throw error instanceof ReceiptError ? error : new ReceiptError(`it is no receipt: ${String(error)}`, { cause: error });
  }
}

async function verify(wire: Uint8Array, keys: readonly SigningKey[]): Promise<VerifiedReceipt> {
  const members = canonicalMembers(wire);
  must(members["schema"] === format, `its format is ${JSON.stringify(members["schema"])}, and not ${format}`);
  const { signatures, ...rest } = members;
  const { receipt_hash: stated, ...chain } = object(members["chain"], "chain");
  const hash = "sha256:" + hex(await sha256(bytes(canonical({ ...rest, chain }))));
  must(hash === stated, `it states the hash ${String(stated)}, and its content gives ${hash}`);
  const issuedAt = String(members["issued_at"]);
  const named = object(members["issuer"], "issuer")["public_key_id"];
  const signers = await signersOf(Array.isArray(signatures) ? signatures : [], hash, issuedAt, keys);
  must(typeof named !== "string" || named === "" || signers.includes(named), `it names the key ${String(named)}, which has not signed it or is not known`);
  must(signers.length > 0, "none of its signatures is by a known key");
  const previous = chain["previous_receipt_hash"];
  return {
    receiptId: String(members["receipt_id"]), hash, previous: typeof previous === "string" ? previous : null,
    subject: String(object(members["subject"], "subject")["id"]), issuedAt, signers, members,
  };
}

function must(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new ReceiptError(reason);
}

function object(value: unknown, name: string): Record<string, unknown> {
  must(typeof value === "object" && value !== null && !Array.isArray(value), `its ${name} is no object`);
  return value as Record<string, unknown>;
}

function canonicalMembers(wire: Uint8Array): Record<string, unknown> {
  let text: string;
  let members: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(wire);
    members = JSON.parse(text);
  } catch {
    throw new ReceiptError("it is not JSON");
  }
  must(canonical(members) === text, "its bytes are not the canonical form of what they say");
  return object(members, "content");
}

/** The canonical form (RFC 8785) of what JSON.parse returns. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, member]) => `${canonical(name)}:${canonical(member)}`).join()}}`;
  }
  must(typeof value !== "number" || Number.isFinite(value), "a number is too large");
  must(typeof value !== "string" || !/\p{Surrogate}/u.test(value), "a text is not Unicode");
  return JSON.stringify(value);
}

async function signersOf(signatures: unknown[], hash: string, issuedAt: string, keys: readonly SigningKey[]): Promise<string[]> {
  const signers: string[] = [];
  for (const one of signatures) {
    const s = object(one, "signature");
    const key = keys.find((k) => k.key_id === s["key_id"]);
    if (!key) continue;
    const at = Date.parse(typeof s["signed_at"] === "string" ? s["signed_at"] : issuedAt);
    const about = `the signature by ${key.key_id}: `;
    const raw = base64(s["signature"], "base64:", 64);
    const publicKey = base64(key.public_key, "", 32);
    must(s["algorithm"] === "ed25519" && raw !== undefined && publicKey !== undefined, about + "it is not of Ed25519");
    must(key.key_id === "sig_" + hex(await sha256(publicKey)).slice(0, 20), about + "the key's id is not that of its bytes");
    const imported = await crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]);
    must(await crypto.subtle.verify("Ed25519", imported, raw, bytes(hash)), about + "it does not hold");
    const retired = key.retired_at ? Date.parse(key.retired_at) : Infinity;
    must(at >= Date.parse(key.created_at) - grace && at <= retired + grace, about + "its key was not in use at the time");
    signers.push(key.key_id);
  }
  return signers;
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const sha256 = async (content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> => new Uint8Array(await crypto.subtle.digest("SHA-256", content));
const hex = (content: Uint8Array): string => Array.from(content, (b) => b.toString(16).padStart(2, "0")).join("");

/** The bytes of a text in base64; undefined when it is not so many in it. */
function base64(encoded: unknown, prefix: string, length: number): Uint8Array<ArrayBuffer> | undefined {
  if (typeof encoded !== "string" || !encoded.startsWith(prefix)) return undefined;
  const text = encoded.slice(prefix.length);
  try {
    const binary = atob(text);
    if (binary.length !== length || btoa(binary) !== text) return undefined;
    return Uint8Array.from(binary, (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}
