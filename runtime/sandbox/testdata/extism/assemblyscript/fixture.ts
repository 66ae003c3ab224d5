// A plugin made with Extism's PDK for AssemblyScript, for the tests of Extism plugins.
import { Config, Host, Memory } from "@extism/as-pdk/lib/pdk";

@external("extism:host/user", "host_fact")
declare function host_fact(request: u64): u64;

@external("extism:host/env", "length")
declare function length(block: u64): u64;

export function myAbort(message: string | null, file: string | null, line: u32, column: u32): void {
  unreachable();
}

// The language runs what stands here in the module's start function.
const table = new Map<string, i32>();
for (let i = 0; i < 1000; i++) table.set(i.toString(), i * i);

export function run(): i32 {
  const color = Config.get("color");
  const request = Memory.allocateString('{"name":"arch"}');
  const at = host_fact(request.offset);
  const fact = new Memory(at, length(at)).toString();
  Host.outputString("twelve squared is " + table.get("12").toString() + (color === null ? "" : ", in " + color) + ": " + fact);
  return 0;
}
