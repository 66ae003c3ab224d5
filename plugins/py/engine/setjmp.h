// The compiler makes of setjmp what unwind.c joins to the rest: see there.
#ifndef WHARF_SETJMP_H
#define WHARF_SETJMP_H
typedef unsigned jmp_buf[2];
int setjmp(jmp_buf buf) __attribute__((returns_twice));
void longjmp(jmp_buf buf, int value) __attribute__((noreturn));
#endif
