//! The worker in Rust: see README.md beside it.

use std::arch::wasm32::{memory_grow, memory_size};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

mod host {
    #[link(wasm_import_module = "wharf")]
    unsafe extern "C" {
        pub fn read(ptr: *mut u8, len: usize) -> usize;
        pub fn input(ptr: *const u8, len: usize) -> u64;
        pub fn output(ptr: *const u8, len: usize) -> u64;
        pub fn clock(ptr: *const u8, len: usize) -> u64;
        pub fn random(ptr: *const u8, len: usize) -> u64;
        pub fn log(ptr: *const u8, len: usize) -> u64;
        #[link_name = "state.get"]
        pub fn state_get(ptr: *const u8, len: usize) -> u64;
        #[link_name = "state.set"]
        pub fn state_set(ptr: *const u8, len: usize) -> u64;
    }
}

mod wasi {
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        pub fn fd_close(fd: u32) -> u32;
        pub fn fd_renumber(from: u32, to: u32) -> u32;
        pub fn fd_fdstat_get(fd: u32, stat: *mut u8) -> u32;
        pub fn fd_fdstat_set_flags(fd: u32, flags: u32) -> u32;
    }
}

type Call = unsafe extern "C" fn(*const u8, usize) -> u64;

fn ask(call: Call, request: &[u8]) -> (u64, Vec<u8>) {
    let result = unsafe { call(request.as_ptr(), request.len()) };
    let mut answer = vec![0; result as u32 as usize];
    unsafe { host::read(answer.as_mut_ptr(), answer.len()) };
    (result, answer)
}

struct Digest(u64); // FNV-1a

impl Digest {
    fn bytes(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ b as u64).wrapping_mul(0x100000001b3);
        }
    }

    #[inline(never)]
    fn mix(&mut self, v: u64) {
        self.bytes(&v.to_le_bytes())
    }

    fn double(&mut self, v: f64) {
        self.mix(v.to_bits())
    }

    fn single(&mut self, v: f32) {
        self.mix(v.to_bits() as u64)
    }

    fn answer(&mut self, (result, answer): (u64, Vec<u8>)) {
        self.mix(result);
        self.bytes(&answer)
    }
}

const SPECIAL64: [u64; 16] = [
    0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fb999999999999a, 0x7fe1ccf385ebc8a0,
    0xffe1ccf385ebc8a0, 1, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000,
    0x7ff8deadbeef0001, 0x7ff0000000000001, 0x400921fb54442d18, 0x0000123456789abc,
];

const SPECIAL32: [u32; 8] =
    [0x80000000, 0x3f800000, 0x7f7fffff, 1, 0x7f800000, 0xff800000, 0xffc00123, 0x7f800001];

fn floats(d: &mut Digest, n: u64) {
    let doubles = black_box(SPECIAL64).map(f64::from_bits);
    let singles = black_box(SPECIAL32).map(f32::from_bits);
    for a in doubles {
        for b in doubles {
            d.double(a + b);
            d.double(a - b);
            d.double(a * b);
            d.double(a / b);
            d.double(-(a * b));
            d.double((a - b).copysign(b));
        }
    }
    for a in singles {
        for b in singles {
            d.single(a + b);
            d.single(a - b);
            d.single(a * b);
            d.single(a / b);
            d.double(a as f64);
        }
    }
    for a in doubles {
        d.double(a.sqrt());
        d.double(-a);
        d.single(a as f32);
        d.double(a.floor());
        d.double(a.ceil());
        d.double(a.trunc());
        d.double(a.round_ties_even());
    }
    chaos(d, n)
}

fn chaos(d: &mut Digest, n: u64) {
    let (mut x, mut sum) = (0.5f64, 0f64);
    for i in 1..=n {
        x = 3.99 * x * (1.0 - x);
        sum += x.sqrt() / i as f64;
        if i % 16 == 0 {
            sum = sum / (x - x) // infinite
        }
        if i % 32 == 0 {
            sum = sum - sum // not a number
        }
        d.double(sum);
        if i % 32 == 0 {
            sum = x
        }
    }
    d.double(x)
}

fn chance(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as u32
}

fn sort(d: &mut Digest, n: u64) {
    let mut state = 1;
    let mut v: Vec<u32> = (0..n).map(|_| chance(&mut state)).collect();
    v.sort_unstable();
    for x in v {
        d.mix(x as u64)
    }
}

/// Mixes a map in the order of its hashes, whose seed is chance.
fn maps(d: &mut Digest, n: u64) {
    let map: HashMap<String, u64> = (0..n).map(|i| (i.to_string(), i)).collect();
    for (key, value) in &map {
        d.bytes(key.as_bytes());
        d.mix(*value)
    }
}

fn heap(d: &mut Digest, n: u64) {
    let mut kept: Vec<Vec<u32>> = Vec::new();
    for i in 0..n as u32 {
        let block: Vec<u32> = (0..4u32 << (i % 12)).map(|j| i.wrapping_mul(j)).collect();
        if i % 3 == 0 {
            kept.push(block)
        }
    }
    for block in &kept {
        d.mix(block.as_ptr() as u64);
        d.mix(block[3] as u64)
    }
    d.mix(memory_size::<0>() as u64)
}

#[inline(never)]
fn even(n: u64) -> u64 {
    if n == 0 { 1 } else { odd(black_box(n) - 1).wrapping_mul(31).wrapping_add(n) }
}

#[inline(never)]
fn odd(n: u64) -> u64 {
    if n == 0 { 1 } else { even(black_box(n) - 1).wrapping_mul(31).wrapping_add(n) }
}

fn calls(d: &mut Digest, n: u64) {
    let begun = Instant::now();
    for _ in 0..n {
        d.mix(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64);
        d.mix(begun.elapsed().as_nanos() as u64);
        d.answer(ask(host::clock, b""));
        d.answer(ask(host::random, &16u32.to_le_bytes()));
        let value = format!("{{\"key\":\"work\",\"value\":\"{:016x}\"}}", d.0);
        d.answer(ask(host::state_set, value.as_bytes()));
        d.answer(ask(host::state_get, b"{\"key\":\"work\"}"));
        let message = format!("{{\"level\":\"info\",\"message\":\"{:016x}\"}}", d.0);
        d.answer(ask(host::log, message.as_bytes()));
        println!("{:016x}", d.0)
    }
}

thread_local! {
    static LEFT: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

static mut TOUCHED: u32 = 1;
static mut UNTOUCHED: u32 = 0;

fn descriptors(d: &mut Digest) {
    for fd in 0..6 {
        let mut stat = [0u8; 24];
        d.mix(unsafe { wasi::fd_fdstat_get(fd, stat.as_mut_ptr()) } as u64);
        d.bytes(&stat)
    }
}

/// Mixes everything that another Task could have left behind.
fn look(d: &mut Digest) {
    descriptors(d);
    d.mix(unsafe { (&raw const TOUCHED).read_volatile() } as u64);
    d.mix(unsafe { (&raw const UNTOUCHED).read_volatile() } as u64);
    LEFT.with_borrow(|left| left.iter().for_each(|s| d.bytes(s.as_bytes())));
    for (key, value) in std::env::vars() {
        d.bytes(key.as_bytes());
        d.bytes(value.as_bytes())
    }
    let size = memory_size::<0>() << 16;
    d.mix(size as u64);
    for p in (16..size).step_by(8) {
        let word = unsafe { black_box(p as *const u64).read_volatile() };
        d.0 = (d.0 ^ word).wrapping_mul(0x100000001b3)
    }
}

fn write(d: &mut Digest, n: u64) {
    unsafe {
        (&raw mut TOUCHED).write_volatile(0xdead);
        (&raw mut UNTOUCHED).write_volatile(0xbeef);
        std::env::set_var("LEFT", "behind");
    }
    LEFT.with_borrow_mut(|left| (0..n * 100).for_each(|i| left.push(format!("left behind {i}"))));
    Box::leak(vec![0xadu8; (n as usize) << 16].into_boxed_slice());
    unsafe {
        d.mix(wasi::fd_fdstat_set_flags(1, 1) as u64);
        d.mix(wasi::fd_renumber(2, 5) as u64);
        for fd in 0..3 {
            d.mix(wasi::fd_close(fd) as u64)
        }
    }
    descriptors(d)
}

fn grow(d: &mut Digest, n: u64) {
    for _ in 0..n {
        let before = memory_grow::<0>(1);
        d.mix(before as u32 as u64);
        if before != usize::MAX {
            unsafe { ((before << 16) as *mut u32).add(4).write_volatile(before as u32) }
        }
    }
}

fn member<'a>(input: &'a str, name: &str) -> Option<&'a str> {
    input.find(name).map(|at| input[at + name.len()..].trim_start_matches([':', ' ', '"']))
}

fn work(d: &mut Digest, word: u8, n: u64) -> bool {
    match word {
        b'b' => loop {
            black_box(n);
        },
        b'c' => calls(d, n),
        b'e' => std::process::exit(n as i32),
        b'f' => floats(d, n),
        b'g' => grow(d, n),
        b'h' => heap(d, n),
        b'l' => look(d),
        b'm' => maps(d, n),
        b'r' => d.mix(even(n)),
        b's' => sort(d, n),
        b't' => std::arch::wasm32::unreachable(),
        b'w' => write(d, n),
        _ => return false,
    }
    true
}

#[unsafe(no_mangle)]
pub extern "C" fn run() -> i32 {
    let (_, input) = ask(host::input, b"");
    let input = String::from_utf8(input).unwrap();
    let word = member(&input, "\"work\"").and_then(|s| s.bytes().next()).unwrap_or(0);
    let times = member(&input, "\"times\"")
        .and_then(|s| s.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
        .unwrap_or(1);
    let mut d = Digest(0xcbf29ce484222325);
    if !work(&mut d, word, times) {
        return 3;
    }
    let (status, _) = ask(host::output, format!("{{\"summary\":\"{:016x}\"}}", d.0).as_bytes());
    (status >> 32) as i32
}
