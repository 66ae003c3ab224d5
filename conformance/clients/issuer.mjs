// An OpenID provider on loopback, with the oidc-provider package, whose clients get
// access tokens that are JWTs.
//
//   node issuer.mjs PORT ALGORITHM SCOPES LIFETIMES
//
// LIFETIMES is a JSON object: for each audience how many seconds its tokens live.
// Its client is "robot" with the secret "a-secret-of-the-robot". Each process has a key
// of its own. It prints its issuer when it listens, and ends when its standard input does.
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

const [port, alg, scope, lifetimes] = process.argv.slice(2);
const lifetime = JSON.parse(lifetimes);
const { privateKey } = await generateKeyPair(alg, { extractable: true });
const jwk = { ...(await exportJWK(privateKey)), alg, use: "sig" };
const issuer = `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "robot",
      client_secret: "a-secret-of-the-robot",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
      id_token_signed_response_alg: alg,
    },
  ],
  enabledJWA: { idTokenSigningAlgValues: [alg] },
  scopes: scope.split(" "),
  jwks: { keys: [jwk] },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({
        scope,
        audience: resource,
        accessTokenFormat: "jwt",
        accessTokenTTL: lifetime[resource],
        jwt: { sign: { alg } },
      }),
    },
  },
});
const server = provider.listen(Number(port), "127.0.0.1", () => process.stdout.write(issuer + "\n"));
process.stdin.on("end", () => {
  server.close();
  server.closeAllConnections();
});
process.stdin.resume();
