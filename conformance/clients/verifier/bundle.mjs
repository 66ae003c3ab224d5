// Reads and checks run bundles and receipts, written against
// docs/bundle-format.md and docs/receipt.md alone. It does not execute plugins, and
// leaves the JSON Schema to a validator.
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import canonicalize from "canonicalize";
import * as ed25519 from "@noble/ed25519";

ed25519.hashes.sha512 = (message) => new Uint8Array(createHash("sha512").update(message).digest());

const sha256 = (...parts) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const hashOf = (bytes) => "sha256:" + sha256(bytes).toString("hex");

class Invalid extends Error {}
const must = (condition, reason) => {
  if (!condition) throw new Invalid(reason);
};

// ---- The archive: "Archive" in docs/bundle-format.md

const limit = (name) =>
  ({
    "manifest.json": 4 << 20, "manifest.sig": 4 << 10, "keys.json": 1 << 20, "module.wasm": 256 << 20,
    "outcome.json": 16 << 20, "persona.json": 1 << 20, "proof.json": 64 << 10, "record.json": 512 << 20,
    "task.json": 16 << 20,
  })[name] ??
  (/^receipts\/[0-9]{3}\.json$/.test(name) ? 4 << 20 : /^blobs\/[0-9a-f]{64}$/.test(name) ? 0xffffffff : -1);

const u16 = (...values) => Buffer.concat(values.map((v) => { const b = Buffer.alloc(2); b.writeUInt16LE(v); return b; }));
const u32 = (...values) => Buffer.concat(values.map((v) => { const b = Buffer.alloc(4); b.writeUInt32LE(v); return b; }));

// What both headers of a file share: version 1.0, UTF-8 names, stored, 1980-01-01.
const common = (f) => Buffer.concat([u16(10, 0x800, 0, 0, 0x21), u32(f.crc, f.size, f.size), u16(f.name.length, 0)]);
const local = (f) => Buffer.concat([u32(0x04034b50), common(f), Buffer.from(f.name, "latin1")]);
const central = (f) =>
  Buffer.concat([u32(0x02014b50), u16(10), common(f), Buffer.alloc(10), u32(f.offset), Buffer.from(f.name, "latin1")]);

function readArchive(bytes) {
  must(bytes.length <= 0xffffffff, "the archive is too large");
  const files = [];
  let offset = 0;
  while (offset + 30 <= bytes.length && bytes.readUInt32LE(offset) === 0x04034b50) {
    const length = bytes.readUInt16LE(offset + 26);
    const start = offset + 30 + length;
    must(length <= 128 && start <= bytes.length, "the name of a file is too long");
    const f = { name: bytes.toString("latin1", offset + 30, start), crc: bytes.readUInt32LE(offset + 14), size: bytes.readUInt32LE(offset + 18), offset };
    must(bytes.subarray(offset, start).equals(local(f)), `the header of ${f.name} is not in the prescribed form`);
    must(start + f.size <= bytes.length, `${f.name} ends behind the archive`);
    f.content = bytes.subarray(start, start + f.size);
    files.push(f);
    must(files.length <= 10000, "there are too many files");
    offset = start + f.size;
  }
  const headers = Buffer.concat(files.map(central));
  const directory = Buffer.concat([headers, u32(0x06054b50), Buffer.alloc(4), u16(files.length, files.length), u32(headers.length, offset), u16(0)]);
  must(bytes.subarray(offset).equals(directory), "the directory is not in the prescribed form");
  checkNames(files);
  return files;
}

function checkNames(files) {
  must(files[0]?.name === "manifest.json" && files[1]?.name === "manifest.sig", "it does not begin with the manifest and its signature");
  let receipts = 0;
  files.forEach((f, i) => {
    must(limit(f.name) >= 0 && (i < 2 || !f.name.startsWith("manifest.")), `a bundle has no file ${f.name} here`);
    must(f.size <= limit(f.name), `${f.name} is too large`);
    must(i <= 2 || files[i - 1].name < f.name, `${f.name} is not in the order of names`);
    if (f.name.startsWith("receipts/")) {
      must(f.name === `receipts/${String(receipts++).padStart(3, "0")}.json`, `${f.name} does not follow the receipt before`);
    }
  });
}

// ---- JSON

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const text = (bytes) => utf8.decode(bytes);
const json = (bytes) => JSON.parse(text(bytes));

// Parses JSON that has to be in its canonical form, and so has no name twice.
function canonical(bytes, members) {
  const value = json(bytes);
  must(canonicalize(value) === text(bytes), "it is not in its canonical form");
  if (members) must(Object.keys(value).join() === members, `its members are not ${members}`);
  return value;
}

// ---- Signatures

function verifySignature(message, keyID, signature, keys) {
  const key = keys.find((k) => k.key_id === keyID);
  must(key, `the key ${keyID} is not known`);
  must(key.algorithm === "ed25519", `the algorithm of ${keyID} is not known`);
  const raw = base64(signature, "base64:", 64);
  must(ed25519.verify(raw, Buffer.from(message), base64(key.public_key, "", 32), { zip215: false }), `the signature by ${keyID} does not hold`);
}

function base64(encoded, prefix, length) {
  must(typeof encoded === "string" && encoded.startsWith(prefix), `it does not begin with ${prefix}`);
  const raw = Buffer.from(encoded.slice(prefix.length), "base64");
  must(raw.length === length && prefix + raw.toString("base64") === encoded, `it is not ${length} bytes in base64`);
  return raw;
}

// ---- Merkle trees: RFC 6962, section 2.1

const hashLeaf = (content) => sha256(Buffer.of(0), content);
const hashNode = (left, right) => sha256(Buffer.of(1), left, right);

function root(leaves) {
  if (leaves.length === 1) return leaves[0];
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return hashNode(root(leaves.slice(0, split)), root(leaves.slice(split)));
}

function rootOfPath(leaf, { index, count, path }) {
  must(Number.isSafeInteger(index) && Number.isSafeInteger(count) && 0 <= index && index < count, "the index is outside of the tree");
  let last = count - 1;
  for (const step of path) {
    must(last > 0 && /^sha256:[0-9a-f]{64}$/.test(step), "the path is not one of this tree");
    const sibling = Buffer.from(step.slice(7), "hex");
    if (index % 2 === 0 && index < last) {
      leaf = hashNode(leaf, sibling);
    } else {
      leaf = hashNode(sibling, leaf);
      while (index % 2 === 0) [index, last] = [index / 2, Math.floor(last / 2)];
    }
    [index, last] = [Math.floor(index / 2), Math.floor(last / 2)];
  }
  must(last === 0, "the path is too short");
  return leaf;
}

// ---- The record: "Leaves" in docs/receipt.md

const contentOf = (t) => (typeof t === "string" ? Buffer.from(t) : Buffer.from(t.base64, "base64"));

function leaf(entry) {
  const [, seconds, fraction = ""] = /^([0-9-]+T[0-9:]+)(?:\.([0-9]+))?Z$/.exec(entry.at);
  return hashLeaf(
    canonicalize({
      answer: hashOf(contentOf(entry.answer)),
      at: `${seconds}.${fraction.slice(0, 6).padEnd(6, "0")}Z`,
      call: entry.call,
      effect: entry.effect,
      index: entry.index,
      key: entry.key ?? "",
      request: hashOf(contentOf(entry.request)),
      status: entry.status,
    }),
  );
}

function checkRecord(record, task, outcome, taskID) {
  must(record.task_id === taskID && task.id === taskID, "the parts are about different Tasks");
  must(!outcome || outcome.task_id === taskID, "the Outcome is about another Task");
  record.entries.forEach((e, i) => must(e.index === i && (!e.open || i === record.entries.length - 1), `call ${i} is not in its place`));
}

// ---- Receipts: "Hash", "Signatures" and "Chain" in docs/receipt.md

export function receiptHash(receipt) {
  const { signatures, ...rest } = receipt;
  const { receipt_hash, ...chain } = rest.chain;
  return hashOf(canonicalize({ ...rest, chain }));
}

const grace = 60_000; // milliseconds

function checkSigners(receipt, keys) {
  const signers = [];
  for (const s of receipt.signatures ?? []) {
    const key = keys.find((k) => k.key_id === s.key_id);
    if (!key) continue;
    must(s.algorithm === "ed25519", `the algorithm ${s.algorithm} is not known`);
    verifySignature(receipt.chain.receipt_hash, s.key_id, s.signature, keys);
    const at = Date.parse(s.signed_at ?? receipt.issued_at);
    must(!(at < Date.parse(key.created_at) - grace), "it was signed before its key was made");
    must(!key.retired_at || !(at > Date.parse(key.retired_at) + grace), "it was signed after its key was retired");
    signers.push(s.key_id);
  }
  const named = receipt.issuer.public_key_id;
  must(!named || signers.includes(named), `it names the key ${named}, which has not signed it or is not known`);
  must(signers.length > 0, "none of its signatures is by a known key");
}

function checkReceipts(report, files, parts, keys) {
  const wires = files.filter((f) => f.name.startsWith("receipts/"));
  const hashes = wires.map((f) => receiptHash(json(f.content)));
  wires.forEach((f, i) => {
    const receipt = json(f.content);
    const check = (name, body) => report.check(`${f.name}: ${name}`, body);
    check("canonical_form", () => void canonical(f.content));
    check("hash", () => must(hashes[i] === receipt.chain.receipt_hash, `its content gives ${hashes[i]}`));
    const previous = receipt.chain.previous_receipt_hash;
    if (previous === null || hashes.includes(previous)) check("chain", () => {});
    else report.skip(`${f.name}: chain`, "the receipt before is not at hand");
    if (!receipt.signatures?.length && !receipt.issuer.public_key_id) report.skip(`${f.name}: signatures`, "it is not signed, and names no key");
    else check("signatures", () => checkSigners(receipt, keys));
    if (![parts.taskID, parts.task.replay?.replay_id].includes(receipt.subject.id)) {
      report.skip(`${f.name}: merkle_root`, "it is about another Task");
      return;
    }
    check("merkle_root", () => {
      const leaves = parts.record.entries.filter((e) => !e.open).map(leaf);
      const actual = leaves.length ? "sha256:" + root(leaves).toString("hex") : undefined;
      must(actual === receipt.chain.merkle_root, `the record gives ${actual}`);
    });
  });
  return hashes;
}

function checkBatch(proof, hashes, keys) {
  const actual = "sha256:" + rootOfPath(hashLeaf(proof.receipt_hash), proof.proof).toString("hex");
  must(actual === proof.root, "the path does not lead to the root");
  verifySignature(`wharf receipt batch 1\n${proof.workspace_id}\n${proof.first}\n${proof.proof.count}\n${proof.root}\n`, proof.key_id, proof.signature, keys);
  must(hashes.includes(proof.receipt_hash), "it is about a receipt that is not in the bundle");
}

// ---- The whole

class Report {
  checks = [];
  check(name, body) {
    try {
      body();
      this.checks.push({ name, status: "ok" });
      return true;
    } catch (error) {
      this.checks.push({ name, status: "failed", reason: error.message });
      return false;
    }
  }
  skip(name, reason) {
    this.checks.push({ name, status: "not_checked", reason });
  }
  done() {
    return { valid: this.checks.every((c) => c.status !== "failed"), checks: this.checks };
  }
}

function readManifest(files) {
  const manifest = canonical(files[0].content, "files,format,task_id");
  must(manifest.format === "wharf-run-bundle-1", `the format ${manifest.format} is not known`);
  for (const f of files.slice(0, 2)) must(crc32(f.content) === f.crc, `${f.name} has another checksum`);
  return manifest;
}

function checkFiles(manifest, files) {
  must(manifest.files.length === files.length, "the archive holds other files than the manifest lists");
  files.forEach((f, i) => {
    const line = manifest.files[i];
    must(line.name === f.name && line.size === f.size, `the manifest does not list ${f.name} here`);
    const hash = hashOf(f.content);
    must(hash === line.sha256 && crc32(f.content) === f.crc, `${f.name} has the hash ${hash}`);
    must(!f.name.startsWith("blobs/") || hash === "sha256:" + f.name.slice(6), `${f.name} has the hash ${hash}`);
  });
}

function readParts(manifest, files) {
  const find = (name) => files.find((f) => f.name === name)?.content;
  const parsed = (name) => find(name) && json(find(name));
  return {
    taskID: manifest.task_id, record: json(find("record.json")), keys: json(find("keys.json")), task: json(find("task.json")),
    outcome: parsed("outcome.json"), proof: parsed("proof.json"), persona: find("persona.json"), module: find("module.wasm"),
  };
}

// Checks a bundle. trusted are the public keys that count; without any, those in
// the bundle do.
export function verifyBundle(bytes, trusted = []) {
  const report = new Report();
  let files, manifest, parts;
  if (!report.check("archive", () => { files = readArchive(bytes); manifest = readManifest(files); })) return report.done();
  const content = files.slice(2);
  if (!report.check("manifest", () => { checkFiles(manifest, content); parts = readParts(manifest, content); })) return report.done();
  const keys = trusted.length ? trusted : parts.keys.keys;
  report.check("manifest_signature", () => {
    const s = canonical(files[1].content, "algorithm,key_id,signature");
    must(s.algorithm === "ed25519", `the algorithm ${s.algorithm} is not known`);
    verifySignature(`wharf run bundle 1\n${hashOf(files[0].content)}\n`, s.key_id, s.signature, keys);
  });
  report.check("record", () => checkRecord(parts.record, parts.task, parts.outcome, parts.taskID));
  if (!parts.module) report.skip("module", "the bundle does not hold the module");
  else report.check("module", () => {
    must(hashOf(parts.module) === parts.record.program.module, "the record names another module");
    must(!parts.persona || hashOf(parts.persona) === parts.record.program.persona, "the record names another Persona");
  });
  let hashes = [];
  if (!report.check("receipts", () => { hashes = checkReceipts(report, content, parts, keys); })) return report.done();
  if (!parts.proof) report.skip("batch", "the receipts are in no sealed batch yet");
  else report.check("batch", () => checkBatch(parts.proof, hashes, keys));
  report.skip("rerun", "this verifier cannot execute plugins");
  return report.done();
}
