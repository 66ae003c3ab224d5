package stack

import (
	"slices"
	"strings"
)

// libraryPaths are parts of the paths of files that no author of a plugin has written.
var libraryPaths = []string{
	"/rustc/", "/rustlib/", "/rust/deps/", "/library/std/", "/library/core/", "/library/alloc/", "/cargo/registry/", "/.cargo/",
	"wasi-libc", "wasisdk", "wasi-sdk", "/libcxx", "/compiler-rt/", "/pkg/mod/", "/usr/local/go/src/", "/goroot/src/",
	"/usr/include/", "/usr/share/wasi", "~lib/", "/node_modules/",
}

// libraryScopes are the outermost scopes of what comes with Rust, C++, and what plugins are
// commonly made with.
var libraryScopes = []string{
	"std", "core", "alloc", "panic_abort", "panic_unwind", "compiler_builtins", "hashbrown", "dlmalloc", "wasi", "__rustc",
	"rustc_demangle", "gimli", "addr2line", "serde", "serde_json", "serde_core", "itoa", "ryu", "memchr", "wharf", "extism_pdk",
	"__cxxabiv1", "__gnu_cxx", "~lib",
}

// libraryNames are functions of C's library, and of what starts and ends a program.
var libraryNames = []string{
	"abort", "exit", "malloc", "free", "calloc", "realloc", "memcpy", "memset", "memmove", "memcmp", "strlen", "printf", "fprintf",
	"vfprintf", "puts", "fputs", "fwrite", "fflush", "raise", "rust_panic", "rust_begin_unwind", "begin_unwind", "dlmalloc", "dlfree",
	"dlrealloc", "undefined_stub", "signature_mismatch", "_initialize", "_Exit", "operator new", "operator delete",
	"assertion_failed",
}

// goLibraries are packages of Go's that begin like none of an author's: they have no dot in
// front of their first slash. The linker has made that unreadable, so the ones on a stack are
// listed; of a path only the last part is certain.
var goLibraries = []string{
	"runtime", "syscall", "os", "fmt", "errors", "io", "sync", "reflect", "strings", "strconv", "bytes", "sort", "slices", "maps", "time",
	"context", "log", "math", "bufio", "unicode", "internal", "encoding", "net", "crypto", "iter", "regexp", "text",
}

// isRuntime says that a function is no author's, by its name and its file.
func isRuntime(name, file string) bool {
	if file != "" && slices.ContainsFunc(libraryPaths, func(part string) bool { return strings.Contains(file, part) }) {
		return true
	}
	if strings.HasPrefix(name, "__") || slices.Contains(libraryNames, name) {
		return true
	}
	if isGo(name) || strings.Contains(name, ".(*") {
		return isGoLibrary(name)
	}
	return slices.Contains(libraryScopes, scope(name))
}

// scope returns the outermost scope of a name of Rust or C++, or what stands in front of the
// first slash in AssemblyScript, whose SDK is a folder of the plugin's: that of a type that a trait
// is implemented for is the type's.
func scope(name string) string {
	name = strings.TrimLeft(name, "<&*")
	name = strings.TrimPrefix(name, "mut ")
	if before, _, ok := strings.Cut(name, "/"); ok && (strings.HasPrefix(name, "~") || before == "wharf") {
		return before
	}
	end := strings.IndexAny(name, ":<[ ")
	if end < 0 {
		return ""
	}
	return name[:end]
}

// isGoLibrary says that a function of Go's is of the standard library, or of the SDK.
func isGoLibrary(name string) bool {
	pkg, _, _ := strings.Cut(name, ".")
	if strings.HasPrefix(name, "github.com_wharf_dev_wharf_sdk_go") {
		return true
	}
	first, _, _ := strings.Cut(pkg, "_")
	return slices.Contains(goLibraries, first)
}
