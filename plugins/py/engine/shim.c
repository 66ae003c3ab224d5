// The engine of plugins in Python: MicroPython, and what joins it to the host.
//
// It is built without a program, and does not run as it is. Package py makes a plugin of it: it
// names the slots of host calls and of exports that the program uses, and puts the program where
// memory ends, so that the code is the same in all plugins. Initialization loads the program, so
// that the snapshot that Tasks begin with has it loaded.

#include <setjmp.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "py/bc.h"
#include "py/builtin.h"
#include "py/compile.h"
#include "py/cstack.h"
#include "py/gc.h"
#include "py/lexer.h"
#include "py/mperrno.h"
#include "py/objexcept.h"
#include "py/objmodule.h"
#include "py/objstr.h"
#include "py/runtime.h"

typedef unsigned int u32;
typedef unsigned long long u64;

__attribute__((import_module("wharf"), import_name("read"))) u32 host_read(void *ptr, u32 len);

#define SLOT(n) __attribute__((import_module("wharf"), import_name("slot" #n))) u64 slot##n(const void *ptr, u32 len);
#include "slots.h"
#undef SLOT

#define SLOT(n) slot##n,
static u64 (*const slots[])(const void *ptr, u32 len) = {
#include "slots.h"
};
#undef SLOT

// What the program begins with; the parts follow in this order, each with a 0 behind it.
struct header {
	u32 size;    // of all
	u32 calls;   // bytes of the names of the host calls, by slot, each ended by a 0
	u32 exports; // bytes of the names of the functions, in the same way
	u32 files;   // bytes of the files: for each its name and a 0, its size in four bytes, its text
	u32 check;   // 1 byte when the files are to be compiled and not run
};

static const struct header *header;
static const char *calls, *exports, *files;
static mp_obj_t serve; // what runs an export
static mp_obj_t say;   // what is told of what is printed

// How much of the native stack the engine may use: less than is linked, and less than the depth of 65,536 that a
// node allows, by WEIGHS. Calls of Python by Python do not use it.
enum { NATIVE_STACK = 200 << 10, DEEPEST = 3000 };

extern char __heap_base; // where the linker's data ends

enum { PAGE = 64 << 10, SMALLEST_HEAP = 4 * PAGE, AREAS = 64, LARGEST_AREA = 1 << 30 };

static struct { char *begin; size_t size; int used; } areas[AREAS];

// engine_heap returns memory for another part of the heap, 0 when there is none.
void *engine_heap(size_t size) {
	int at = 0, best = -1;
	for (; at < AREAS && areas[at].begin; at++)
		if (!areas[at].used && areas[at].size >= size && (best < 0 || areas[at].size < areas[best].size)) best = at;
	if (best < 0) {
		size_t pages = (size + PAGE - 1) / PAGE, end = at == AREAS ? (size_t)-1 : __builtin_wasm_memory_grow(0, pages);
		if (end == (size_t)-1) return 0;
		best = at;
		areas[best].begin = (char *)(end * PAGE), areas[best].size = pages * PAGE;
	}
	areas[best].used = 1;
	return areas[best].begin;
}

void engine_heap_free(void *area) {
	for (int i = 0; i < AREAS; i++)
		if (areas[i].begin == area) areas[i].used = 0;
}

size_t gc_get_max_new_split(void) { return LARGEST_AREA; }

// Python's own objects are found from what its interpreter loop holds, and not from what C functions
// do: their variables are no memory. So there is a collection only where the outermost loop is between
// two instructions and has called no C function, and until then memory grows.
unsigned engine_level;
int engine_wants_collection;

void gc_collect(void) { engine_wants_collection = 1; }

void engine_loop(unsigned level, struct _mp_code_state_t *state) {
	engine_level = level;
	if (level != 1) return;
	engine_wants_collection = 0;
	gc_collect_start();
	void *roots[] = {state, serve, say};
	gc_collect_root(roots, 3);
	char *sp = __builtin_frame_address(0), *top = MP_STATE_THREAD(stack_top);
	gc_collect_root((void **)((size_t)sp & ~3), (top - sp) / sizeof(void *));
	gc_collect_end();
	gc_info_t info;
	gc_info(&info);
	size_t next = info.used < (1 << 20) ? 1 << 20 : info.used;
	MP_STATE_MEM(gc_alloc_threshold) = next / MICROPY_BYTES_PER_GC_BLOCK;
}

// engine_deeper bounds calls of Python by Python, which take memory and no native stack.
void engine_deeper(struct _mp_code_state_t *into, struct _mp_code_state_t *from) {
	into->depth = from->depth + 1;
	if (into->depth < DEEPEST) return;
	mp_globals_set(into->old_globals);
	mp_raise_recursion_depth();
}

void nlr_jump(void *val) {
	MP_NLR_JUMP_HEAD(val, top);
	longjmp(top->jmpbuf, 1);
}

void nlr_jump_fail(void *val) {
	(void)val;
	__builtin_trap();
}

// Nothing comes from outside while the program runs.
void mp_handle_pending(bool raise) { (void)raise; }

// name_at returns the name of the given number in a list of n bytes, 0 when there is none.
static const char *name_at(const char *list, u32 n, u32 number) {
	const char *end = list + n;
	for (; list < end; list += strlen(list) + 1)
		if (!number--) return list;
	return 0;
}

static int slot_of(const char *name) {
	const char *known;
	for (int i = 0; (known = name_at(calls, header->calls, i)); i++)
		if (!strcmp(known, name)) return i;
	return -1;
}

// A file of the program.
struct file { const char *name, *text; u32 size; };

// next_file reads the file at p, and returns where the next one is; 0 when there is none.
static const char *next_file(const char *p, struct file *f) {
	if (p == files + header->files) return 0;
	f->name = p;
	p += strlen(p) + 1;
	memcpy(&f->size, p, 4);
	f->text = p + 4;
	return f->text + f->size;
}

static int find_file(const char *name, struct file *f) {
	for (const char *p = files; (p = next_file(p, f));)
		if (!strcmp(f->name, name)) return 1;
	return 0;
}

mp_import_stat_t mp_import_stat(const char *path) {
	struct file f;
	if (find_file(path, &f)) return MP_IMPORT_STAT_FILE;
	size_t n = strlen(path);
	for (const char *p = files; (p = next_file(p, &f));)
		if (!strncmp(f.name, path, n) && f.name[n] == '/') return MP_IMPORT_STAT_DIR;
	return MP_IMPORT_STAT_NO_EXIST;
}

mp_lexer_t *mp_lexer_new_from_file(qstr name) {
	struct file f;
	if (!find_file(qstr_str(name), &f)) mp_raise_OSError(MP_ENOENT);
	return mp_lexer_new_from_str_len(name, f.text, f.size, 0);
}

// There are no files to open.
static mp_obj_t no_open(size_t n, const mp_obj_t *args, mp_map_t *named) {
	(void)n, (void)args, (void)named;
	mp_raise_msg(&mp_type_OSError, MP_ERROR_TEXT("a plugin has no files: see wharf.artifact_get"));
}
MP_DEFINE_CONST_FUN_OBJ_KW(mp_builtin_open_obj, 1, no_open);

// call(name, request) makes a host call and returns its status and its answer, as bytes.
static mp_obj_t call(mp_obj_t name, mp_obj_t request) {
	int slot = slot_of(mp_obj_str_get_str(name));
	if (slot < 0)
		mp_raise_msg_varg(&mp_type_RuntimeError, MP_ERROR_TEXT("the plugin does not import the host call %s: its sources have to name the function"), mp_obj_str_get_str(name));
	mp_buffer_info_t asked = {.buf = 0, .len = 0};
	if (request != mp_const_none) mp_get_buffer_raise(request, &asked, MP_BUFFER_READ);
	u64 result = slots[slot](asked.buf, asked.len);
	vstr_t answer;
	vstr_init_len(&answer, (u32)result);
	if ((u32)result) host_read(answer.buf, (u32)result);
	mp_obj_t both[] = {MP_OBJ_NEW_SMALL_INT(result >> 32), mp_obj_new_bytes_from_vstr(&answer)};
	return mp_obj_new_tuple(2, both);
}
static MP_DEFINE_CONST_FUN_OBJ_2(call_obj, call);

// entropy(n) returns bytes of randomness of the Task.
static mp_obj_t entropy(mp_obj_t size) {
	vstr_t bytes;
	vstr_init_len(&bytes, mp_obj_get_int(size));
	for (size_t at = 0, n; at < bytes.len; at += n) {
		n = bytes.len - at < 256 ? bytes.len - at : 256; // as much as getentropy takes
		if (getentropy(bytes.buf + at, n)) __builtin_trap();
	}
	return mp_obj_new_bytes_from_vstr(&bytes);
}
static MP_DEFINE_CONST_FUN_OBJ_1(entropy_obj, entropy);

// clock(monotonic) returns nanoseconds.
static mp_obj_t tell_time(mp_obj_t monotonic) {
	struct timespec t;
	clock_gettime(mp_obj_is_true(monotonic) ? CLOCK_MONOTONIC : CLOCK_REALTIME, &t);
	return mp_obj_new_int_from_ull((u64)t.tv_sec * 1000000000 + t.tv_nsec);
}
static MP_DEFINE_CONST_FUN_OBJ_1(clock_obj, tell_time);

// pause(seconds) waits, as running time.
static mp_obj_t pause_for(mp_obj_t seconds) {
	double s = mp_obj_get_float(seconds);
	if (s > 0) {
		struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
		nanosleep(&t, 0);
	}
	return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(pause_obj, pause_for);

static mp_obj_t text(const char *s) { return mp_obj_new_str_from_cstr(s); }

// traceback(exception) returns (file, line, function) for each frame, the innermost first.
static mp_obj_t traceback(mp_obj_t exception) {
	size_t n, *values;
	mp_obj_exception_get_traceback(exception, &n, &values);
	mp_obj_t list = mp_obj_new_list(0, 0);
	for (size_t i = 0; i + 2 < n; i += 3) {
		mp_obj_t frame[] = {text(qstr_str(values[i])), MP_OBJ_NEW_SMALL_INT(values[i + 1]),
			values[i + 2] == MP_QSTRnull ? mp_const_none : text(qstr_str(values[i + 2]))};
		mp_obj_list_append(list, mp_obj_new_tuple(3, frame));
	}
	return list;
}
static MP_DEFINE_CONST_FUN_OBJ_1(traceback_obj, traceback);

// compiled(n) compiles the file of that number, and returns its name; None when there is none.
static mp_obj_t compiled(mp_obj_t number) {
	struct file f;
	const char *p = files;
	for (mp_int_t n = mp_obj_get_int(number); (p = next_file(p, &f)) && n; n--) {}
	if (!p) return mp_const_none;
	mp_lexer_t *lexer = mp_lexer_new_from_str_len(qstr_from_str(f.name), f.text, f.size, 0);
	qstr name = lexer->source_name;
	mp_parse_tree_t tree = mp_parse(lexer, MP_PARSE_FILE_INPUT);
	mp_compile(&tree, name, false);
	return text(f.name);
}
static MP_DEFINE_CONST_FUN_OBJ_1(compiled_obj, compiled);

// What is printed and not told yet.
static char printed[8192];
static size_t printed_size;

static void tell(void) {
	if (!printed_size || !say) return;
	mp_obj_t line = mp_obj_new_bytes((const byte *)printed, printed_size);
	printed_size = 0;
	mp_call_function_1(say, line);
}

void mp_hal_stdout_tx_strn_cooked(const char *s, size_t size) {
	for (; size; s++, size--) {
		if (*s == '\n' || printed_size == sizeof printed) tell();
		if (*s != '\n') printed[printed_size++] = *s;
	}
}

static void define(mp_obj_t module, const char *name, mp_const_obj_t value) {
	mp_store_attr(module, qstr_from_str(name), (mp_obj_t)value);
}

static void prepare(void) {
	mp_obj_t own = mp_obj_new_module(qstr_from_str("_wharf"));
	define(own, "call", &call_obj);
	define(own, "entropy", &entropy_obj);
	define(own, "clock", &clock_obj);
	define(own, "pause", &pause_obj);
	define(own, "traceback", &traceback_obj);
	define(own, "compiled", &compiled_obj);
	struct file entry;
	next_file(files, &entry);
	define(own, "entry", mp_obj_new_str(entry.name, strlen(entry.name) - 3)); // without .py
	mp_obj_list_append(mp_sys_path, text(".sdk"));
	define(own, "check", mp_obj_new_bool(header->check));
	mp_obj_dict_store(MP_OBJ_FROM_PTR(&MP_STATE_VM(mp_loaded_modules_dict)), MP_OBJ_NEW_QSTR(qstr_from_str("_wharf")), own);
}

// load runs the file that runs the others. What the program throws is kept by it.
static void load(void) {
	nlr_buf_t nlr;
	if (nlr_push(&nlr)) __builtin_trap();
	prepare();
	mp_obj_t runtime = mp_import_name(qstr_from_str("_runtime"), mp_const_none, MP_OBJ_NEW_SMALL_INT(0));
	serve = mp_load_attr(runtime, qstr_from_str("serve"));
	say = mp_load_attr(runtime, qstr_from_str("say"));
	engine_level = 0;
	mp_call_function_0(mp_load_attr(runtime, qstr_from_str("load")));
	nlr_pop();
}

// find finds the program: it begins with the first page that the linker has not asked for. What is behind
// it is the beginning of the heap.
static void find(void) {
	char *begin = (char *)(((size_t)&__heap_base + PAGE - 1) / PAGE * PAGE);
	header = (const struct header *)begin;
	calls = begin + sizeof *header;
	exports = calls + header->calls + 1;
	files = exports + header->exports + 1;
	char *heap = (char *)(((size_t)begin + header->size + 15) & ~(size_t)15), *end = (char *)(__builtin_wasm_memory_size(0) * PAGE);
	if (end - heap >= SMALLEST_HEAP) {
		gc_init(heap, end);
		return;
	}
	heap = engine_heap(SMALLEST_HEAP);
	if (!heap) __builtin_trap();
	gc_init(heap, heap + SMALLEST_HEAP);
}

__attribute__((constructor)) static void begin(void) {
	mp_cstack_init_with_top(__builtin_frame_address(0), NATIVE_STACK);
	find();
	mp_init();
	MP_STATE_MEM(gc_alloc_threshold) = (1 << 20) / MICROPY_BYTES_PER_GC_BLOCK;
	load();
}

// run calls a function of the program, and returns what the Wasm export returns.
static int run(u32 number) {
	nlr_buf_t nlr;
	mp_cstack_init_with_top(__builtin_frame_address(0), NATIVE_STACK);
	engine_level = 0;
	if (nlr_push(&nlr)) return 1;
	mp_call_function_1(serve, text(name_at(exports, header->exports, number)));
	tell();
	nlr_pop();
	return 0;
}

#define EXPORTED(n) __attribute__((export_name("export" #n))) int export##n(void) { return run(1##n - 100); }
#include "exports.h"
