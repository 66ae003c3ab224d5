// The Fibonacci number of 23 by plain recursion: nothing but calls.
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((export_name("run"))) int run(void) { return fib(23); }
