// A website of three pages, to try the scraper with.
import { createServer } from "node:http";

const titles = { "/rain": "Rain", "/river": "River", "/sea": "Sea" };

createServer((request, response) => {
  const title = titles[request.url];
  response.writeHead(title ? 200 : 404, { "Content-Type": "text/html; charset=utf-8" });
  response.end(title ? `<!doctype html><title>${title}</title>` : "");
}).listen(28473, "127.0.0.1");
