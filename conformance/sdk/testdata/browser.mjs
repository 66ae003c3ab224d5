// Drives the client in TypeScript within a page: as drive.go, with the lines that its server has for it.
import { driver } from "./commands.mjs";
import * as client from "./client/index.js";

let printed = Promise.resolve(); // one after another, so that lines stay in their order
const print = (line) => {
  printed = printed.then(() => fetch("/said", { method: "POST", body: JSON.stringify(line) }));
};
const file = async (path) => (await fetch("/file?" + new URLSearchParams({ path }))).blob();
const obey = driver(client, { print, file });

for (;;) {
  const next = await fetch("/next");
  if (!next.ok) break;
  await obey(await next.json());
}
