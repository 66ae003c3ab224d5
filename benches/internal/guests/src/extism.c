// The plugin in C for Extism that the benches run. It does what a development kit for
// plugins does.

typedef unsigned char byte;
typedef unsigned int u32;
typedef unsigned long long u64;

#define ENV(name) __attribute__((import_module("extism:host/env"), import_name(name)))
#define USER(name) __attribute__((import_module("extism:host/user"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

ENV("alloc") u64 env_alloc(u64 len);
ENV("free") void env_free(u64 at);
ENV("length") u64 env_length(u64 at);
ENV("load_u8") u32 env_load_u8(u64 at);
ENV("load_u64") u64 env_load_u64(u64 at);
ENV("store_u8") void env_store_u8(u64 at, u32 v);
ENV("store_u64") void env_store_u64(u64 at, u64 v);
USER("get") u64 user_get(u64 at);

enum { CALLS = 1000, CALL_BYTES = 100 };

EXPORT("nothing") int nothing(void) { return 0; }

static void store(u64 at, const byte *p, u32 n) {
	u32 i = 0;
	for (; i + 8 <= n; i += 8) {
		u64 v;
		__builtin_memcpy(&v, p + i, 8);
		env_store_u64(at + i, v);
	}
	for (; i < n; i++) env_store_u8(at + i, p[i]);
}

static void load(byte *p, u64 at, u32 n) {
	u32 i = 0;
	for (; i + 8 <= n; i += 8) {
		u64 v = env_load_u64(at + i);
		__builtin_memcpy(p + i, &v, 8);
	}
	for (; i < n; i++) p[i] = env_load_u8(at + i);
}

EXPORT("calls") int calls(void) {
	static byte request[CALL_BYTES], answer[CALL_BYTES];
	for (u32 i = 0; i < CALLS; i++) {
		u64 in = env_alloc(CALL_BYTES);
		store(in, request, CALL_BYTES);
		u64 out = user_get(in);
		if (env_length(out) != CALL_BYTES) return 1;
		load(answer, out, CALL_BYTES);
		env_free(in);
		env_free(out);
	}
	return 0;
}
