// The worker in C: see README.md beside it.

#include "../guest.h"

#define WASI(name) IMPORT("wasi_snapshot_preview1", name)

WASI("clock_time_get") u32 wasi_clock(u32 id, u64 precision, u64 *time);
WASI("random_get") u32 wasi_random(byte *ptr, u32 len);
WASI("fd_close") u32 wasi_close(u32 fd);
WASI("fd_renumber") u32 wasi_renumber(u32 from, u32 to);
WASI("fd_fdstat_get") u32 wasi_status(u32 fd, byte *stat);
WASI("fd_fdstat_set_flags") u32 wasi_set_flags(u32 fd, u32 flags);
WASI("proc_exit") _Noreturn void wasi_exit(u32 code);

CALL(host_clock, "clock");
CALL(host_random, "random");
CALL(host_log, "log");
CALL(host_state_get, "state.get");
CALL(host_state_set, "state.set");

#define NOINLINE __attribute__((noinline))

static u64 digest = 0xcbf29ce484222325; // FNV-1a

static void mix_bytes(const byte *p, u32 n) {
	for (u32 i = 0; i < n; i++) digest = (digest ^ p[i]) * 0x100000001b3;
}

static NOINLINE void mix(u64 v) {
	for (int i = 0; i < 8; i++, v >>= 8) digest = (digest ^ (v & 0xff)) * 0x100000001b3;
}

static u64 bits64(double v) {
	u64 bits;
	__builtin_memcpy(&bits, &v, 8);
	return bits;
}

static u32 bits32(float v) {
	u32 bits;
	__builtin_memcpy(&bits, &v, 4);
	return bits;
}

static volatile u64 special64[16] = {
	0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fb999999999999a, 0x7fe1ccf385ebc8a0,
	0xffe1ccf385ebc8a0, 1, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000,
	0x7ff8deadbeef0001, 0x7ff0000000000001, 0x400921fb54442d18, 0x0000123456789abc,
};

static volatile u32 special32[8] = {
	0x80000000, 0x3f800000, 0x7f7fffff, 1, 0x7f800000, 0xff800000, 0xffc00123, 0x7f800001,
};

static double value64(int i) {
	u64 bits = special64[i];
	double v;
	__builtin_memcpy(&v, &bits, 8);
	return v;
}

static float value32(int i) {
	u32 bits = special32[i];
	float v;
	__builtin_memcpy(&v, &bits, 4);
	return v;
}

static void pairs(void) {
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 16; j++) {
			double a = value64(i), b = value64(j);
			mix(bits64(a + b));
			mix(bits64(a - b));
			mix(bits64(a * b));
			mix(bits64(a / b));
			mix(bits64(-(a * b)));
			mix(bits64(__builtin_copysign(a - b, b)));
		}
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 8; j++) {
			float a = value32(i), b = value32(j);
			mix(bits32(a + b));
			mix(bits32(a - b));
			mix(bits32(a * b));
			mix(bits32(a / b));
			mix(bits64(a));
		}
}

static void singles(void) {
	for (int i = 0; i < 16; i++) {
		double a = value64(i);
		mix(bits64(__builtin_sqrt(a)));
		mix(bits64(-a));
		mix(bits32((float)a));
		mix(bits64(__builtin_floor(a)));
		mix(bits64(__builtin_ceil(a)));
		mix(bits64(__builtin_trunc(a)));
		mix(bits64(__builtin_rint(a)));
	}
}

static void chaos(u32 n) {
	double x = 0.5, sum = 0;
	for (u32 i = 1; i <= n; i++) {
		x = 3.99 * x * (1 - x);
		sum += __builtin_sqrt(x) / i;
		if (i % 16 == 0) sum = sum / (x - x); // infinite
		if (i % 32 == 0) sum = sum - sum;     // not a number
		mix(bits64(sum));
		if (i % 32 == 0) sum = x;
	}
	mix(bits64(x));
}

static void floats(u32 n) {
	pairs();
	singles();
	chaos(n);
}

static u32 chance(u64 *state) {
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return *state >> 33;
}

static void *allocate(u32 n) {
	reserve(n + 16);
	out = (byte *)(((u32)out + 15) & ~15u);
	byte *at = out;
	out += n;
	return at;
}

static void sift(u32 *v, u32 i, u32 n) {
	for (u32 child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && v[child + 1] > v[child]) child++;
		if (v[i] >= v[child]) return;
		u32 other = v[i];
		v[i] = v[child], v[child] = other;
	}
}

static void sort(u32 n) {
	u64 state = 1;
	u32 *v = allocate(n * 4);
	for (u32 i = 0; i < n; i++) v[i] = chance(&state);
	for (u32 i = n / 2; i--;) sift(v, i, n);
	for (u32 left = n; left-- > 1;) {
		u32 last = v[left];
		v[left] = v[0], v[0] = last;
		sift(v, 0, left);
	}
	for (u32 i = 0; i < n; i++) mix(v[i]);
}

// maps fills a table by keys whose places depend on addresses and on chance.
static void maps(u32 n) {
	u32 size = 2 * n + 1, *table = allocate(size * 4), seed;
	__builtin_memset(table, 0, size * 4);
	wasi_random((byte *)&seed, 4);
	u64 state = seed ^ (u32)table;
	for (u32 i = 1; i <= n; i++) {
		u32 at = chance(&state) % size;
		while (table[at]) at = (at + 1) % size;
		table[at] = i;
	}
	for (u32 i = 0; i < size; i++)
		if (table[i]) mix(table[i]);
}

static void heap(u32 n) {
	u32 *last = 0;
	for (u32 i = 0; i < n; i++) {
		byte *before = out;
		u32 words = 4u << i % 12, *block = allocate(words * 4);
		for (u32 j = 1; j < words; j++) block[j] = i * j;
		block[0] = (u32)last;
		if (i % 3)
			out = before; // freed
		else
			last = block;
	}
	for (; last; last = (u32 *)last[0]) mix((u64)(u32)last << 32 | last[3]);
	mix(__builtin_wasm_memory_size(0));
}

static NOINLINE u64 odd(u32 n);
static NOINLINE u64 even(u32 n) { return n == 0 ? 1 : odd(n - 1) * 31 + n; }
static NOINLINE u64 odd(u32 n) { return n == 0 ? 1 : even(n - 1) * 31 + n; }

static void mix_answer(u64 result) {
	struct span answer = take(result);
	mix(result);
	mix_bytes(answer.start, answer.end - answer.start);
}

static void calls(u32 n) {
	static const byte sixteen[4] = {16};
	byte *scratch = out;
	for (u32 i = 0; i < n; i++, out = scratch) {
		u64 time = 0, chance = 0;
		mix(wasi_clock(0, 1, &time));
		mix(time);
		mix(wasi_clock(1, 1, &time));
		mix(time);
		mix(wasi_random((byte *)&chance, 8));
		mix(chance);
		mix_answer(host_clock(0, 0));
		mix_answer(host_random(sixteen, 4));
		byte *start = out;
		PUT("{\"key\":\"work\",\"value\":\"");
		put_hex(digest);
		PUT("\"}");
		mix_answer(host_state_set(start, out - start));
		struct span get = LITERAL("{\"key\":\"work\"}");
		mix_answer(host_state_get(get.start, get.end - get.start));
		start = out;
		PUT("{\"level\":\"info\",\"message\":\"");
		put_hex(digest);
		PUT("\"}");
		mix_answer(host_log(start, out - start));
	}
}

static u32 touched = 1, untouched; // of data, and of what is zero at first
static u32 *left;                  // behind on the heap

static void mix_descriptors(void) {
	for (u32 fd = 0; fd < 6; fd++) {
		byte stat[24] = {0};
		mix(wasi_status(fd, stat));
		mix_bytes(stat, sizeof stat);
	}
}

// look mixes everything that another Task could have left behind.
static void look(void) {
	mix_descriptors();
	mix(touched), mix(untouched), mix((u32)left);
	u32 pages = __builtin_wasm_memory_size(0);
	mix(pages);
	for (volatile u64 *p = 0; p < (u64 *)(pages * PAGE); p++) {
		digest ^= *p;
		digest *= 0x100000001b3;
	}
}

static void write(u32 pages) {
	touched = 0xdead, untouched = 0xbeef;
	struct span text = LITERAL("left behind");
	u32 before = __builtin_wasm_memory_grow(0, pages);
	mix(before);
	byte *end = (byte *)(__builtin_wasm_memory_size(0) * PAGE);
	left = (u32 *)(out + 64);
	for (byte *p = (byte *)left; p + 11 < end; p += 11) __builtin_memcpy(p, text.start, 11);
	for (u32 i = 0; i < 16; i++) special64[i] = 0xdead;
	mix(wasi_set_flags(1, 1));
	mix(wasi_renumber(2, 5));
	mix(wasi_close(0));
	mix(wasi_close(1));
	mix(wasi_close(2));
	mix_descriptors();
}

static void grow(u32 pages) {
	while (pages--) {
		u32 before = __builtin_wasm_memory_grow(0, 1);
		mix(before);
		if (before != (u32)-1) *(volatile u32 *)(before * PAGE + 16) = before;
	}
}

static void mix_vector(v128_t v) {
	byte all[16];
	wasm_v128_store(all, v);
	mix_bytes(all, 16);
}

static void vectors(u32 n) {
	v128_t sum = wasm_f64x2_splat(0);
	for (u32 i = 0; i < n; i++) {
		v128_t a = wasm_f64x2_make(value64(i % 16), value64((i + 7) % 16));
		v128_t b = wasm_f64x2_make(value64(i / 16 % 16), value64((i / 3) % 16));
		v128_t c = wasm_f32x4_make(value32(i % 8), value32((i + 3) % 8), value32(i / 8 % 8), 0.5f);
		sum = wasm_f64x2_add(sum, wasm_f64x2_mul(a, b));
		mix_vector(sum);
		mix_vector(wasm_f64x2_div(a, b));
		mix_vector(wasm_f64x2_sqrt(a));
		mix_vector(wasm_f64x2_min(a, b));
		mix_vector(wasm_f64x2_pmax(a, b));
		mix_vector(wasm_f64x2_neg(wasm_f64x2_sub(a, b)));
		mix_vector(wasm_f32x4_div(c, wasm_f32x4_sub(c, c)));
		mix_vector(wasm_f32x4_max(c, wasm_f32x4_splat(value32(6))));
		mix_vector(wasm_f32x4_demote_f64x2_zero(a));
		mix_vector(wasm_f64x2_promote_low_f32x4(c));
		mix_vector(wasm_f32x4_nearest(c));
		if (i % 8 == 0) sum = b;
	}
}

static void busy(void) {
	for (volatile u32 i = 0;; i++) {
	}
}

static int work(byte word, u32 n) {
	switch (word) {
	case 'b': busy(); return 1;
	case 'c': calls(n); return 1;
	case 'e': wasi_exit(n);
	case 'f': floats(n); return 1;
	case 'g': grow(n); return 1;
	case 'h': heap(n); return 1;
	case 'l': look(); return 1;
	case 'm': maps(n); return 1;
	case 'r': mix(even(n)); return 1;
	case 's': sort(n); return 1;
	case 't': __builtin_trap();
	case 'v': vectors(n); return 1;
	case 'w': write(n); return 1;
	}
	return 0;
}

EXPORT("run") int run(void) {
	struct span in = input(), word = MEMBER(in, "work");
	if (!word.start || *word.start != '"') return 2;
	if (!work(word.start[1], number(MEMBER(in, "times"), 1))) return 3;
	byte *start = out;
	PUT("{\"summary\":\"");
	put_hex(digest);
	PUT("\"}");
	return status_of(host_output(start, out - start));
}
