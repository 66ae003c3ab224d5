// The plugin in C that the benches run.

typedef unsigned char byte;
typedef unsigned int u32;
typedef unsigned long long u64;

#define HOST(name) __attribute__((import_module("wharf"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))
#define NOINLINE __attribute__((noinline))

HOST("state.get") u64 host_get(const byte *ptr, u32 len);
HOST("output") u64 host_output(const byte *ptr, u32 len);
HOST("read") u32 host_read(byte *ptr, u32 len);

enum { CALLS = 1000, CALL_BYTES = 100 };

EXPORT("run") int run(void) {
	static const char output[] = "{\"summary\":\"done\"}";
	return host_output((const byte *)output, sizeof output - 1) >> 32 != 0;
}

EXPORT("nothing") int nothing(void) { return 0; }

EXPORT("calls") int calls(void) {
	static byte request[CALL_BYTES] = "{\"key\":\"", answer[CALL_BYTES];
	for (u32 i = 8; i < CALL_BYTES - 2; i++) request[i] = 'k';
	request[CALL_BYTES - 2] = '"', request[CALL_BYTES - 1] = '}';
	for (u32 i = 0; i < CALLS; i++) {
		if ((u32)host_get(request, CALL_BYTES) != CALL_BYTES) return 1;
		if (host_read(answer, CALL_BYTES) != CALL_BYTES) return 1;
	}
	return 0;
}

static const u32 rounds[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static u32 rotate(u32 x, int n) { return x >> n | x << (32 - n); }

static NOINLINE void block(u32 h[8], const byte *p) {
	u32 w[64], s[8];
	for (int i = 0; i < 16; i++, p += 4) w[i] = (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
	for (int i = 16; i < 64; i++) {
		u32 a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
		u32 b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + a + w[i - 7] + b;
	}
	for (int i = 0; i < 8; i++) s[i] = h[i];
	for (int i = 0; i < 64; i++) {
		u32 e = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
		u32 one = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + rounds[i] + w[i];
		u32 a = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
		u32 two = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + one;
		s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = one + two;
	}
	for (int i = 0; i < 8; i++) h[i] += s[i];
}

// hash is the SHA-256 of whole blocks.
static void hash(u32 h[8], const byte *p, u32 blocks) {
	static const u32 start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};
	static byte end[64] = {0x80};
	for (int i = 0; i < 8; i++) h[i] = start[i];
	for (u32 i = 0; i < blocks; i++) block(h, p + 64 * i);
	u64 bits = (u64)blocks * 512;
	for (int i = 0; i < 8; i++) end[56 + i] = bits >> (56 - 8 * i);
	block(h, end);
}

EXPORT("sha256") int sha256(void) {
	static byte data[64 << 10];
	static const byte zero[1];
	u32 h[8];
	hash(h, zero, 0);
	if (h[0] != 0xe3b0c442 || h[7] != 0x7852b855) return 1;
	for (int n = 0; n < 16; n++) {
		hash(h, data, sizeof data / 64);
		for (int i = 0; i < 8; i++) data[4 * i] = h[i];
	}
	return 0;
}

enum { SIZE = 160 };

EXPORT("matrix") int matrix(void) {
	static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) a[i][j] = i + j, b[i][j] = i == j ? 2 : 0;
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) {
			double sum = 0;
			for (int k = 0; k < SIZE; k++) sum += a[i][k] * b[k][j];
			c[i][j] = sum;
		}
	return c[SIZE - 1][SIZE - 1] != 4 * (SIZE - 1);
}

EXPORT("mandelbrot") int mandelbrot(void) {
	enum { PIXELS = 200, MOST = 200 };
	u32 inside = 0;
	for (int py = 0; py < PIXELS; py++)
		for (int px = 0; px < PIXELS; px++) {
			double x0 = 3.0 * px / PIXELS - 2.25, y0 = 3.0 * py / PIXELS - 1.5, x = 0, y = 0;
			int n = 0;
			for (; n < MOST && x * x + y * y <= 4; n++) {
				double next = x * x - y * y + x0;
				y = 2 * x * y + y0, x = next;
			}
			inside += n == MOST;
		}
	return inside < 4000 || inside > 12000;
}

static NOINLINE u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

EXPORT("fib") int fib(void) { return fibonacci(30) != 832040; }
