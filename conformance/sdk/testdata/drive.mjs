// Drives the client in TypeScript: as drive.go. It is given the folder of the package, and that of the package ws.
import { openAsBlob } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { driver } from "./commands.mjs";

const [folder, ws] = process.argv.slice(2);
const obey = driver(await import(pathToFileURL(`${folder}/dist/index.js`)), {
  print: (line) => process.stdout.write(JSON.stringify(line) + "\n"),
  file: (path) => openAsBlob(path),
  WebSocket: ws ? (await import(pathToFileURL(`${ws}/wrapper.mjs`))).WebSocket : undefined,
});

for await (const line of createInterface({ input: process.stdin })) await obey(JSON.parse(line));
process.exit(0);
