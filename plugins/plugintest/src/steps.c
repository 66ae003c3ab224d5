// steps makes a number of host calls of about the same size:
//
//	{"steps": 5, "kind": "durable", "bytes": 200}
//
// With the kind durable each is a state.set, whose value is on disk when the call
// returns; with read each is a state.get, whose key has the given length as far as
// keys can be that long.

#include "guest.h"

CALL(host_state_get, "state.get");
CALL(host_state_set, "state.set");

enum { MAX_KEY = 128 };

static void fill(u32 from, u32 to) {
	if (from >= to) return;
	reserve(to - from);
	__builtin_memset(out, 'x', to - from);
	out += to - from;
}

static u64 set(u32 i, u32 bytes) {
	byte *start = out;
	PUT("{\"key\":\"step-");
	put_number(i);
	PUT("\",\"value\":\"");
	fill(out - start + 2, bytes);
	PUT("\"}");
	return host_state_set(start, out - start);
}

static u64 get(u32 i, u32 bytes) {
	byte *start = out;
	PUT("{\"key\":\"");
	byte *key = out;
	PUT("step-");
	put_number(i);
	fill(out - key, bytes < MAX_KEY ? bytes : MAX_KEY);
	PUT("\"}");
	return host_state_get(start, out - start);
}

EXPORT("run") int run(void) {
	struct span in = input();
	u32 steps = number(MEMBER(in, "steps"), 5), bytes = number(MEMBER(in, "bytes"), 200);
	int durable = !IS(MEMBER(in, "kind"), "\"read\"");
	byte *scratch = out;
	for (u32 i = 0; i < steps; i++, out = scratch)
		if (status_of(durable ? set(i, bytes) : get(i, bytes))) return 1;
	PUT("{\"summary\":\"");
	put_number(steps);
	PUT(" steps\"}");
	return status_of(host_output(scratch, out - scratch));
}
