// How exceptions leave functions. WebAssembly has no jump out of a function, so that the compiler
// makes of setjmp and longjmp calls of the functions below: what calls setjmp makes each of its calls
// by way of "invoke", and asks afterwards whether something was thrown to it. What is in between has to
// return at once. For that, package unwind puts a look at __THREW__ after each call of the module that
// can throw, and makes the functions "invoke".

#include <stddef.h>

typedef unsigned u32;

__attribute__((used, visibility("default"))) u32 __THREW__; // the jmp_buf that is jumped to, 0 when none is
int __threwValue;

static u32 beside; // the second result of what follows
static u32 *target;

void setTempRet0(u32 v) { beside = v; }

u32 getTempRet0(void) { return beside; }

// malloc is called by what calls setjmp, for a table, when it begins; nothing else calls it. What is
// returned tells activations from each other: it is below the frame of the caller, whose place on
// the stack no other has. The compiler writes a 0 there.
void *malloc(size_t size) {
	(void)size;
	return (char *)__builtin_frame_address(0) - 16;
}

void free(void *table) { (void)table; }

// A jmp_buf has the activation that it belongs to, and which setjmp of that it is.
u32 *saveSetjmp(u32 *buf, u32 label, u32 *table, u32 size) {
	buf[0] = (u32)table, buf[1] = label;
	beside = size;
	return table;
}

u32 testSetjmp(u32 activation, u32 *table, u32 size) {
	(void)size;
	return activation == (u32)table ? target[1] : 0;
}

__attribute__((export_name("emscripten_longjmp"))) void emscripten_longjmp(u32 *buf, int value) {
	target = buf;
	__THREW__ = (u32)buf;
	__threwValue = value;
}
