// Checks run bundles without any code of Wharf's.
//
//   node verify.mjs [--keys KEYS.json] BUNDLE...
//
// It prints a report on each bundle, one JSON object a line. KEYS.json is the
// document at /.well-known/wharf-keys.json of the node that is trusted. The exit
// status is 0 when all bundles are valid, 1 when one is not, and 2 when it could
// not look.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { verifyBundle } from "./bundle.mjs";

try {
  const { values, positionals } = parseArgs({ options: { keys: { type: "string" } }, allowPositionals: true });
  if (positionals.length === 0) throw new Error("usage: node verify.mjs [--keys KEYS.json] BUNDLE...");
  const trusted = values.keys ? JSON.parse(readFileSync(values.keys)).keys : [];
  for (const name of positionals) {
    const report = verifyBundle(readFileSync(name), trusted);
    process.stdout.write(JSON.stringify(report) + "\n");
    if (!report.valid) process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(error.message + "\n");
  process.exitCode = 2;
}
