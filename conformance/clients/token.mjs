// Gets an access token with the openid-client package, by what the issuer says of
// itself, and verifies it with the jose package and the issuer's published keys.
//
//   node token.mjs ISSUER KIND METHOD CLIENT SECRET SCOPE AUDIENCE
//
// KIND is oauth2 or oidc: where the metadata of the issuer are. METHOD is basic or
// post: where the client's secret goes. It prints the answer of the token endpoint, the
// token's header and its claims, or {"refused": code} when there is no token.
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as client from "openid-client";

const [issuer, algorithm, method, id, secret, scope, resource] = process.argv.slice(2);
const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const authentication = { basic: client.ClientSecretBasic, post: client.ClientSecretPost }[method](secret);

const config = await client.discovery(new URL(issuer), id, undefined, authentication, {
  algorithm,
  execute: [client.allowInsecureRequests], // it is on loopback
});
try {
  const answer = await client.clientCredentialsGrant(config, { ...(scope && { scope }), ...(algorithm === "oidc" && { resource }) });
  const { jwks_uri } = config.serverMetadata();
  const { payload, protectedHeader } = await jwtVerify(answer.access_token, createRemoteJWKSet(new URL(jwks_uri)), {
    issuer,
    audience: resource,
    typ: "at+jwt",
    clockTolerance: 60, // a token may be dead before it is looked at
  });
  print({ answer, header: protectedHeader, claims: payload });
} catch (error) {
  // What came with a challenge is told of in the challenge.
  const refused = error.error ?? error.cause?.[0]?.parameters?.error ?? error.code;
  if (!error.status) throw error;
  print({ refused, status: error.status });
}
