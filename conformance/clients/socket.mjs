// Speaks over a WebSocket with the ws package: as a browser does, with the key as a
// subprotocol, and with permessage-deflate. Sends each line of its standard input
// as a frame and prints each frame that comes, one a line, and the close code.
//
//   node socket.mjs URL KEY
import readline from "node:readline";
import WebSocket from "ws";

const [url, key] = process.argv.slice(2);
const socket = new WebSocket(url, ["harn.v1", "bearer." + key], { perMessageDeflate: true });
const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");

socket.on("open", () => {
  print({ type: "open", protocol: socket.protocol, extensions: socket.extensions });
  const lines = readline.createInterface({ input: process.stdin });
  lines.on("line", (line) => socket.send(line));
  lines.on("close", () => socket.close(4000));
});
socket.on("message", (data) => process.stdout.write(data.toString() + "\n"));
socket.on("error", (e) => print({ type: "failed", reason: e.message }));
socket.on("close", (code) => print({ type: "close", code }));
