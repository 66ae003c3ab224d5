// Checks the signatures of a node's agent card with the jose package.
//
//   node card.mjs URL
//
// It prints the ids of the keys that have signed. The exit status is 0 when every
// signature is one of the card by a published key, 1 when one is not or is missing.
import canonicalize from "canonicalize";
import { compactVerify, createRemoteJWKSet, decodeProtectedHeader } from "jose";

const url = process.argv[2];
const answer = await fetch(url + "/v1/agent-card");
const text = await answer.text();
const card = JSON.parse(process.env.CARD_EDIT ? text.replaceAll(...JSON.parse(process.env.CARD_EDIT)) : text);
const keys = createRemoteJWKSet(new URL(url + "/.well-known/wharf-keys.json"));

async function verify(document, protectedHeader, signature) {
  const payload = Buffer.from(canonicalize(document)).toString("base64url");
  const { typ, jku } = decodeProtectedHeader(`${protectedHeader}..${signature}`);
  if (typ !== "JOSE" || jku !== url + "/.well-known/wharf-keys.json") throw new Error(`the header says ${typ}, ${jku}`);
  const result = await compactVerify(`${protectedHeader}.${payload}.${signature}`, keys, { algorithms: ["EdDSA"] });
  process.stdout.write(result.protectedHeader.kid + "\n");
}

try {
  const { signature, ...signed } = card;
  const [header, empty, value] = signature.value.split(".");
  if (signature.algorithm !== "EdDSA" || empty !== "") throw new Error("the card's signature is no detached EdDSA");
  await verify(signed, header, value);
  const { signatures, ...a2a } = card.a2a_card;
  if (signatures.length === 0) throw new Error("the A2A card is not signed");
  for (const one of signatures) await verify(a2a, one.protected, one.signature);
} catch (error) {
  process.stderr.write(error.message + "\n");
  process.exitCode = 1;
}
