// Speaks over a WebSocket with the ws package, with permessage-deflate.
//
//   node socket.mjs URL OPTIONS
//
// OPTIONS is a JSON object: "protocols", a list of subprotocols, and options of the
// package, such as "headers", "origin" or "autoPong".
//
// Each line of its standard input is sent as a frame, but for those that begin with an
// exclamation mark, which do something else. It prints each frame that comes, and
// {"type": "open"}, {"type": "refused", "status"}, {"type": "pinged"},
// {"type": "ponged"} and {"type": "close", "code", "reason"}, one a line. At the end of
// its standard input it closes with the code 4000.
import readline from "node:readline";
import WebSocket from "ws";

const { protocols = [], ...options } = JSON.parse(process.argv[3]);
const socket = new WebSocket(process.argv[2], protocols, { perMessageDeflate: true, ...options });
const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");

const others = {
  "!ping": () => socket.ping(),
  "!binary": () => socket.send(Buffer.from("{}")),
  "!no utf-8": () => socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false }),
  "!unmasked": () => socket.send("{}", { mask: false }),
  "!large": () => socket.send(JSON.stringify({ type: "ping", id: "x".repeat(2 << 20) }), { compress: false }),
  "!large, compressed": () => socket.send(JSON.stringify({ type: "ping", id: "x".repeat(2 << 20) }), { compress: true }),
};

socket.on("open", () => {
  print({ type: "open", protocol: socket.protocol, extensions: socket.extensions });
  const lines = readline.createInterface({ input: process.stdin });
  lines.on("line", (line) => (others[line] ? others[line]() : socket.send(line)));
  lines.on("close", () => socket.close(4000));
});
socket.on("message", (data) => process.stdout.write(data.toString() + "\n"));
socket.on("ping", () => print({ type: "pinged" }));
socket.on("pong", () => print({ type: "ponged" }));
socket.on("unexpected-response", (_, answer) => {
  print({ type: "refused", status: answer.statusCode });
  process.exit();
});
socket.on("error", (e) => print({ type: "failed", reason: e.message }));
socket.on("close", (code, reason) => {
  print({ type: "close", code, reason: reason.toString() });
  process.exit();
});
