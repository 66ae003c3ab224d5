// Signs webhooks with the packages of those who send or receive them, and delivers
// them. It reads deliveries from its standard input, one JSON object a line:
//
//   scheme   standard-webhooks, github, slack or stripe
//   url      where to send to
//   secrets  what the body is signed with: with two, both signatures are sent, where
//            the scheme has room for that
//   id       the delivery id, where the scheme signs one
//   age      seconds since it was signed
//   body     what is signed
//   instead  what is sent in its place
//   headers  headers that are sent besides, or instead of those of the signature;
//            null leaves one out
//
// For each it prints a line {"status", "answer", "refused"}: refused is why the
// scheme's own package, given the first secret of "trusted", refuses what was sent.
import { createHmac } from "node:crypto";
import { createInterface } from "node:readline";
import { sign, verify } from "@octokit/webhooks-methods";
import bolt from "@slack/bolt";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";

const schemes = {
  "standard-webhooks": {
    sign: ({ id, secrets, body }, at) => ({
      "webhook-id": id,
      "webhook-timestamp": String(at),
      "webhook-signature": secrets.map((s) => new Webhook(s).sign(id, new Date(at * 1000), body)).join(" "),
    }),
    verify: (secret, body, headers) => new Webhook(secret).verify(body, headers),
  },
  github: {
    sign: async ({ id, secrets, body }) => ({
      "x-github-delivery": id,
      "x-hub-signature-256": await sign(secrets[0], body),
    }),
    verify: async (secret, body, headers) => {
      if (!(await verify(secret, body, headers["x-hub-signature-256"]))) throw new Error("no match");
    },
  },
  // Bolt only receives: what Slack sends is made as its documentation says.
  slack: {
    sign: ({ secrets, body }, at) => ({
      "x-slack-request-timestamp": String(at),
      "x-slack-signature": "v0=" + createHmac("sha256", secrets[0]).update(`v0:${at}:${body}`).digest("hex"),
    }),
    verify: (signingSecret, body, headers) => bolt.verifySlackRequest({ signingSecret, body, headers }),
  },
  stripe: {
    sign: ({ secrets, body: payload }, timestamp) => {
      const made = secrets.map((secret) => Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp }));
      return { "stripe-signature": [made[0], ...made.slice(1).map((h) => h.slice(h.indexOf("v1=")))].join(",") };
    },
    verify: (secret, body, headers) => Stripe.webhooks.constructEvent(body, headers["stripe-signature"], secret),
  },
};

async function refusal(scheme, secret, body, headers) {
  try {
    await scheme.verify(secret, body, headers);
    return "";
  } catch (error) {
    return String(error.message || error.name);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const delivery = JSON.parse(line);
  const scheme = schemes[delivery.scheme];
  const signed = await scheme.sign(delivery, Math.floor(Date.now() / 1000) - (delivery.age ?? 0));
  const headers = Object.fromEntries(
    Object.entries({ "content-type": "application/json", ...signed, ...delivery.headers }).filter(([, value]) => value !== null),
  );
  const body = delivery.instead ?? delivery.body;
  const refused = await refusal(scheme, delivery.trusted, body, headers);
  const answer = await fetch(delivery.url, { method: "POST", headers, body });
  process.stdout.write(JSON.stringify({ status: answer.status, answer: await answer.json(), refused }) + "\n");
}
