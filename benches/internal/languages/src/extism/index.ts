// Reads how many calls it is to make, makes them, and says what came back: with Extism's kit for AssemblyScript, which has
// no JSON, so that the text is taken as it is.
import { Host, Memory } from "@extism/as-pdk";

// @ts-ignore: decorator
@external("extism:host/user", "get")
declare function get(request: u64): u64;

// @ts-ignore: decorator
@external("extism:host/env", "length")
declare function length(offset: u64): u64;

export function abort(message: string | null, fileName: string | null, line: u32, column: u32): void { unreachable(); }

export function run(): i32 {
  const key = "k".repeat(90);
  const calls = i32.parse(Host.inputString());
  let last = "";
  for (let i = 0; i < calls; i++) {
    const asked = Memory.allocateString('{"key":"' + key + '"}');
    const at = get(asked.offset);
    const said = new Memory(at, length(at));
    last = said.toString();
    asked.free();
    said.free();
  }
  Host.outputString(last);
  return 0;
}
