// The worker in AssemblyScript: see README.md beside it.

@external("wharf", "read") declare function hostRead(ptr: usize, len: usize): u32;
@external("wharf", "input") declare function hostInput(ptr: usize, len: usize): u64;
@external("wharf", "output") declare function hostOutput(ptr: usize, len: usize): u64;
@external("wharf", "clock") declare function hostClock(ptr: usize, len: usize): u64;
@external("wharf", "random") declare function hostRandom(ptr: usize, len: usize): u64;
@external("wharf", "log") declare function hostLog(ptr: usize, len: usize): u64;
@external("wharf", "state.get") declare function hostStateGet(ptr: usize, len: usize): u64;
@external("wharf", "state.set") declare function hostStateSet(ptr: usize, len: usize): u64;

let digest: u64 = 0xcbf29ce484222325; // FNV-1a

function mixByte(b: u64): void {
  digest = (digest ^ b) * 0x100000001b3;
}

function mix(v: u64): void {
  for (let i = 0; i < 8; i++, v >>= 8) mixByte(v & 0xff);
}

function mixDouble(v: f64): void {
  mix(reinterpret<u64>(v));
}

function mixSingle(v: f32): void {
  mix(reinterpret<u32>(v));
}

function mixBytes(bytes: ArrayBuffer): void {
  for (let i = 0; i < bytes.byteLength; i++) mixByte(load<u8>(changetype<usize>(bytes) + i));
}

const special64: u64[] = [
  0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fb999999999999a, 0x7fe1ccf385ebc8a0,
  0xffe1ccf385ebc8a0, 1, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000,
  0x7ff8deadbeef0001, 0x7ff0000000000001, 0x400921fb54442d18, 0x0000123456789abc,
];

const special32: u32[] = [
  0x80000000, 0x3f800000, 0x7f7fffff, 1, 0x7f800000, 0xff800000, 0xffc00123, 0x7f800001,
];

function pairs(): void {
  for (let i = 0; i < 16; i++) {
    for (let j = 0; j < 16; j++) {
      const a = reinterpret<f64>(special64[i]), b = reinterpret<f64>(special64[j]);
      mixDouble(a + b);
      mixDouble(a - b);
      mixDouble(a * b);
      mixDouble(a / b);
      mixDouble(-(a * b));
      mixDouble(copysign<f64>(a - b, b));
    }
  }
  for (let i = 0; i < 8; i++) {
    for (let j = 0; j < 8; j++) {
      const a = reinterpret<f32>(special32[i]), b = reinterpret<f32>(special32[j]);
      mixSingle(a + b);
      mixSingle(a - b);
      mixSingle(a * b);
      mixSingle(a / b);
      mixDouble(a as f64);
    }
  }
}

function singles(): void {
  for (let i = 0; i < 16; i++) {
    const a = reinterpret<f64>(special64[i]);
    mixDouble(sqrt<f64>(a));
    mixDouble(-a);
    mixSingle(a as f32);
    mixDouble(floor<f64>(a));
    mixDouble(ceil<f64>(a));
    mixDouble(trunc<f64>(a));
    mixDouble(nearest<f64>(a));
  }
}

function chaos(n: u32): void {
  let x: f64 = 0.5, sum: f64 = 0;
  for (let i: u32 = 1; i <= n; i++) {
    x = 3.99 * x * (1 - x);
    sum += sqrt<f64>(x) / i;
    if (i % 16 == 0) sum = sum / (x - x); // infinite
    if (i % 32 == 0) sum = sum - sum; // not a number
    mixDouble(sum);
    if (i % 32 == 0) sum = x;
  }
  mixDouble(x);
}

function floats(n: u32): void {
  pairs();
  singles();
  chaos(n);
}

let state: u64 = 1;

function chance(): u32 {
  state = state * 6364136223846793005 + 1442695040888963407;
  return (state >> 33) as u32;
}

function sort(n: u32): void {
  const v = new Array<u32>(n);
  for (let i: u32 = 0; i < n; i++) v[i] = chance();
  v.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  for (let i: u32 = 0; i < n; i++) mix(v[i]);
}

function maps(n: u32): void {
  const map = new Map<string, u32>();
  for (let i: u32 = 0; i < n; i++) map.set(chance().toString(), i);
  for (let i: u32 = 0; i < n; i += 3) map.delete(map.keys()[0]);
  const keys = map.keys();
  for (let i = 0; i < keys.length; i++) {
    mixBytes(String.UTF8.encode(keys[i]));
    mix(map.get(keys[i]));
  }
}

function heap(n: u32): void {
  const kept: Uint32Array[] = [];
  for (let i: u32 = 0; i < n; i++) {
    const block = new Uint32Array(4 << (i % 12));
    for (let j = 0; j < block.length; j++) block[j] = i * j;
    if (i % 3 == 0) kept.push(block);
  }
  for (let i = 0; i < kept.length; i++) {
    mix(changetype<usize>(kept[i]));
    mix(kept[i][3]);
  }
  mix(memory.size());
}

function even(n: u64): u64 {
  return n == 0 ? 1 : odd(n - 1) * 31 + n;
}

function odd(n: u64): u64 {
  return n == 0 ? 1 : even(n - 1) * 31 + n;
}

function answer(result: u64): ArrayBuffer {
  const bytes = new ArrayBuffer(result as u32);
  hostRead(changetype<usize>(bytes), bytes.byteLength);
  return bytes;
}

function mixAnswer(result: u64): void {
  mix(result);
  mixBytes(answer(result));
}

function hex(v: u64): string {
  let s = "";
  for (let i = 60; i >= 0; i -= 4) s += "0123456789abcdef".charAt(((v >> i) & 15) as i32);
  return s;
}

function calls(n: u32): void {
  const sixteen = new Uint8Array(4);
  sixteen[0] = 16;
  for (let i: u32 = 0; i < n; i++) {
    mixAnswer(hostClock(0, 0));
    mixAnswer(hostRandom(sixteen.dataStart, 4));
    const set = String.UTF8.encode('{"key":"work","value":"' + hex(digest) + '"}');
    mixAnswer(hostStateSet(changetype<usize>(set), set.byteLength));
    const get = String.UTF8.encode('{"key":"work"}');
    mixAnswer(hostStateGet(changetype<usize>(get), get.byteLength));
    const log = String.UTF8.encode('{"level":"info","message":"' + hex(digest) + '"}');
    mixAnswer(hostLog(changetype<usize>(log), log.byteLength));
  }
}

let touched: u32 = 1;
let untouched: u32 = 0;
let half: f32 = 0.5;
let third: f64 = 1.0 / 3.0;
let left: string[] = [];

// look mixes everything that another Task could have left behind.
function look(): void {
  mix(touched);
  mix(untouched);
  mixSingle(half);
  mixDouble(third);
  mix(state);
  for (let i = 0; i < left.length; i++) mixBytes(String.UTF8.encode(left[i]));
  const size = (memory.size() as usize) << 16;
  mix(size);
  for (let p: usize = 0; p < size; p += 8) digest = (digest ^ load<u64>(p)) * 0x100000001b3;
}

function write(n: u32): void {
  touched = 0xdead;
  untouched = 0xbeef;
  half = NaN;
  third = -Infinity;
  state = 0xdead;
  for (let i: u32 = 0; i < n * 100; i++) left.push("left behind " + i.toString());
  const before = memory.grow(n);
  mix(before as u32);
  if (before >= 0) memory.fill((before as usize) << 16, 0xad, (n as usize) << 16);
}

function grow(n: u32): void {
  for (let i: u32 = 0; i < n; i++) {
    const before = memory.grow(1) as u32;
    mix(before);
    if (before != u32.MAX_VALUE) store<u32>(((before as usize) << 16) + 16, before);
  }
}

function busy(): void {
  for (;;) touched++;
}

function member(input: string, name: string): string {
  const at = input.indexOf('"' + name + '":');
  return at < 0 ? "" : input.substring(at + name.length + 3).trimStart();
}

function work(word: string, n: u32): bool {
  if (word == "b") busy();
  else if (word == "c") calls(n);
  else if (word == "f") floats(n);
  else if (word == "g") grow(n);
  else if (word == "h") heap(n);
  else if (word == "l") look();
  else if (word == "m") maps(n);
  else if (word == "r") mix(even(n));
  else if (word == "s") sort(n);
  else if (word == "t") unreachable();
  else if (word == "w") write(n);
  else return false;
  return true;
}

export function run(): i32 {
  const input = String.UTF8.decode(answer(hostInput(0, 0)));
  const times = member(input, "times");
  const n = times.length > 0 ? (parseInt(times) as u32) : 1;
  if (!work(member(input, "work").charAt(1), n)) return 3;
  const summary = String.UTF8.encode('{"summary":"' + hex(digest) + '"}');
  return (hostOutput(changetype<usize>(summary), summary.byteLength) >> 32) as i32;
}
