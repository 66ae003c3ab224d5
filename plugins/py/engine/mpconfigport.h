// What the engine has of MicroPython.

#include <alloca.h>
#include <stdint.h>

typedef int32_t mp_int_t;
typedef uint32_t mp_uint_t;
typedef long mp_off_t;
#define UINT_FMT "%lu"
#define INT_FMT "%ld"
#define MP_SSIZE_MAX (0x7fffffff)

#define MICROPY_CONFIG_ROM_LEVEL (MICROPY_CONFIG_ROM_LEVEL_EXTRA_FEATURES)
#define MICROPY_MPHALPORT_H "mphalport.h"
#define MICROPY_HEAP_SIZE (0)

// Memory: it grows, and is collected where no C function holds what Python has made.
#define MICROPY_ENABLE_GC (1)
#define MICROPY_GC_SPLIT_HEAP (1)
#define MICROPY_GC_SPLIT_HEAP_AUTO (1)
#define MICROPY_GC_ALLOC_THRESHOLD (1)
#define MICROPY_ALLOC_GC_STACK_SIZE (1024)
#define MICROPY_GC_STACK_ENTRY_TYPE size_t
#define MICROPY_ENABLE_FINALISER (0)
#define MICROPY_ENABLE_PYSTACK (0)
void *engine_heap(size_t size);
void engine_heap_free(void *area);
#define MP_PLAT_ALLOC_HEAP(size) engine_heap(size)
#define MP_PLAT_FREE_HEAP(area) engine_heap_free(area)

// Calls of Python by Python stay within one interpreter loop; those through C are bounded.
#define MICROPY_STACKLESS (1)
#define MICROPY_STACKLESS_STRICT (0)
#define MICROPY_STACK_CHECK (1)
#define MICROPY_NLR_SETJMP (1)

// A node bounds calls by weights, which follow the size of the functions, and traps when they are
// used up. mp_cstack_check() has to come first, so a function that can be part of a recursion takes 4 bytes of the
// stack for each unit of its weight and of what it calls on the way to the next one.
#define WEIGHS(weight) do { char pad_[4 * (weight)]; __asm__ volatile("" : : "r"(pad_) : "memory"); } while (0)

struct _mp_code_state_t;
void engine_deeper(struct _mp_code_state_t *into, struct _mp_code_state_t *from);
void engine_loop(unsigned level, struct _mp_code_state_t *state);
extern unsigned engine_level;
extern int engine_wants_collection;
#define MICROPY_VM_HOOK_INIT engine_level = engine_level_here;
#define MICROPY_VM_HOOK_LOOP \
	if (engine_wants_collection) engine_loop(engine_level_here, code_state);
#define MICROPY_VM_HOOK_RETURN MICROPY_VM_HOOK_LOOP

#define MICROPY_OPT_COMPUTED_GOTO (0)
#define MICROPY_COMP_CONST_TUPLE (1)
#define MICROPY_LONGINT_IMPL (MICROPY_LONGINT_IMPL_MPZ)
#define MICROPY_FLOAT_IMPL (MICROPY_FLOAT_IMPL_DOUBLE)
#define MICROPY_ENABLE_SOURCE_LINE (1)
#define MICROPY_ENABLE_DOC_STRING (0)
#define MICROPY_ERROR_REPORTING (MICROPY_ERROR_REPORTING_DETAILED)
#define MICROPY_WARNINGS (0)
#define MICROPY_CPYTHON_COMPAT (1)
#define MICROPY_ENABLE_EXTERNAL_IMPORT (1)
#define MICROPY_USE_INTERNAL_ERRNO (1)
#define MICROPY_USE_INTERNAL_PRINTF (0)
#define MICROPY_HELPER_REPL (0)
#define MICROPY_REPL_EMACS_KEYS (0)
#define MICROPY_REPL_AUTO_INDENT (0)
#define MICROPY_KBD_EXCEPTION (0)
#define MICROPY_ENABLE_SCHEDULER (0)
#define MICROPY_MODULE_WEAK_LINKS (1)
#define MICROPY_MODULE_FROZEN_STR (0)
#define MICROPY_VFS (0)
#define MICROPY_READER_VFS (0)

#define MICROPY_PY_BUILTINS_HELP (0)
#define MICROPY_PY_BUILTINS_INPUT (0)
#define MICROPY_PY_BUILTINS_EXECFILE (0)
#define MICROPY_PY_BUILTINS_NOTIMPLEMENTED (1)
#define MICROPY_PY_BUILTINS_POW3 (1)
#define MICROPY_PY_BUILTINS_ROUND_INT (1)
#define MICROPY_PY_BUILTINS_COMPLEX (0)
#define MICROPY_PY_BUILTINS_STR_UNICODE (1)
#define MICROPY_PY_ALL_SPECIAL_METHODS (1)
#define MICROPY_PY_REVERSE_SPECIAL_METHODS (1)
#define MICROPY_PY_BUILTINS_COMPILE (1)
#define MICROPY_PY_MATH_SPECIAL_FUNCTIONS (1)
#define MICROPY_PY_MATH_ISCLOSE (1)
#define MICROPY_PY_CMATH (0)
#define MICROPY_PY_COLLECTIONS_ORDEREDDICT (1)
#define MICROPY_PY_COLLECTIONS_NAMEDTUPLE__ASDICT (1)
#define MICROPY_PY_IO (1)
#define MICROPY_PY_IO_IOBASE (0)
#define MICROPY_PY_IO_BUFFEREDWRITER (0)
#define MICROPY_PY_SYS_STDFILES (0)
#define MICROPY_PY_SYS_STDIO_BUFFER (0)
#define MICROPY_PY_SYS_PS1_PS2 (0)
#define MICROPY_PY_SYS_ATEXIT (0)
#define MICROPY_PY_SYS_PLATFORM "wharf"
#define MICROPY_PY_SYS_PATH_ARGV_DEFAULTS (1)
#define MICROPY_PY_THREAD (0)
#define MICROPY_PY_ASYNCIO (0)
#define MICROPY_PY_UCTYPES (0)
#define MICROPY_PY_SELECT (0)
#define MICROPY_PY_MACHINE (0)
#define MICROPY_PY_FRAMEBUF (0)
#define MICROPY_PY_DEFLATE (0)
#define MICROPY_PY_OS (0)
#define MICROPY_PY_RANDOM (0)
#define MICROPY_PY_TIME (0)
#define MICROPY_PY_PLATFORM (0)
#define MICROPY_PY_CRYPTOLIB (0)
#define MICROPY_PY_SSL (0)
#define MICROPY_PY_WEBSOCKET (0)
#define MICROPY_PY_MARSHAL (0)
#define MICROPY_PY_JSON (1)
#define MICROPY_PY_JSON_SEPARATORS (1)
#define MICROPY_PY_RE (1)
#define MICROPY_PY_RE_SUB (1)
#define MICROPY_PY_RE_MATCH_GROUPS (1)
#define MICROPY_PY_RE_MATCH_SPAN_START_END (1)
#define MICROPY_PY_HEAPQ (1)
#define MICROPY_PY_BINASCII (1)
#define MICROPY_PY_BINASCII_CRC32 (0)
#define MICROPY_PY_HASHLIB (1)
#define MICROPY_PY_HASHLIB_SHA256 (1)
#define MICROPY_PY_HASHLIB_SHA1 (0)
#define MICROPY_PY_HASHLIB_MD5 (0)

#define MP_STATE_PORT MP_STATE_VM
