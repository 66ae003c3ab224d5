// A durable handler that makes the steps that the node's plugin makes. It listens on
// loopback, prints its address, and ends when its standard input does.
import http2 from "node:http2";
import * as restate from "@restatedev/restate-sdk";

// The SDK uses what Node has since version 22.
Promise.withResolvers ??= function () {
  const deferred = {};
  deferred.promise = new this((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
};

const steps = restate.service({
  name: "steps",
  handlers: {
    // Each step is awaited: its result is stored before the next one begins.
    run: async (ctx, { steps, bytes }) => {
      for (let i = 0; i < steps; i++) {
        await ctx.run(`step-${i}`, () => "x".repeat(bytes));
      }
      return { status: "COMPLETED", summary: `${steps} steps` };
    },
  },
});

const server = http2.createServer(restate.endpoint().bind(steps).http2Handler());
server.listen(0, "127.0.0.1", () => console.log(`ready 127.0.0.1:${server.address().port}`));
process.stdin.resume().on("end", () => process.exit(0));
