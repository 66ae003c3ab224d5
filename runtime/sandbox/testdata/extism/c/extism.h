// What a plugin in C needs of Extism and of Wharf, without a library.
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define EXTISM(name) __attribute__((import_module("extism:host/env"), import_name(#name))) extern
#define WHARF(name) __attribute__((import_module("extism:host/user"), import_name(#name))) extern
#define EXPORT(name) __attribute__((export_name(#name)))

EXTISM(input_length) u64 input_length(void);
EXTISM(input_load_u8) u8 input_load_u8(u64 at);
EXTISM(length) u64 length(u64 block);
EXTISM(alloc) u64 alloc(u64 size);
EXTISM(free) void free_block(u64 block);
EXTISM(load_u8) u8 load_u8(u64 at);
EXTISM(load_u64) u64 load_u64(u64 at);
EXTISM(store_u8) void store_u8(u64 at, u32 byte);
EXTISM(store_u64) void store_u64(u64 at, u64 value);
EXTISM(output_set) void output_set(u64 block, u64 size);
EXTISM(error_set) void error_set(u64 block);
EXTISM(config_get) u64 config_get(u64 key);
EXTISM(var_get) u64 var_get(u64 key);
EXTISM(var_set) void var_set(u64 key, u64 value);
EXTISM(http_request) u64 http_request(u64 request, u64 body);
EXTISM(http_status_code) u32 http_status_code(void);
EXTISM(log_info) void log_info(u64 text);
EXTISM(get_log_level) u32 get_log_level(void);

static u32 size_of(const char *s) {
	u32 n = 0;
	while (s[n]) n++;
	return n;
}

static u64 block(const char *s) {
	u32 n = size_of(s);
	u64 at = alloc(n);
	for (u32 i = 0; i < n; i++) store_u8(at + i, (u8)s[i]);
	return at;
}

static int output(u64 at) {
	output_set(at, length(at));
	return 0;
}

static int output_text(const char *s) { return output(block(s)); }
