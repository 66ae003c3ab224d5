package sandbox

import (
	"errors"
	"reflect"
	"runtime/debug"
	"sync"
	_ "unsafe" // for go:linkname

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// interpreterCeiling is how many functions can be under way at once in the engine's
// interpreter, 2,000 if it is left alone: less than what a depth allows, so that a guest
// would trap there and not in compiled code. The engine offers no other way to set it
// than the linker's.
//
//go:linkname interpreterCeiling github.com/tetratelabs/wazero/internal/engine/interpreter.callStackCeiling
var interpreterCeiling int

// raiseInterpreterCeiling is done before the first engine is made. The interpreter
// recurses on the goroutine's stack, with 4 KB for each function, or 9 KB with the race
// detector. Go lets a stack have 10^9 bytes and doubles it when it is full, so that only
// 2^29 of them can be had: that is not enough for DefaultLimits, and would end the
// process.
var raiseInterpreterCeiling = sync.OnceFunc(func() {
	ceiling := &interpreterCeiling
	*ceiling = 100_000
	debug.SetMaxStack(1 << 30)
})

// cacheOver returns a cache of the engine that keeps machine code in the given store: its
// methods are those of kept.Code. The engine's own takes code from a folder as it finds it,
// and offers no way to look at it first; what it asks of a store is an interface all the
// same, in a field of its cache.
func cacheOver(store any) (wazero.CompilationCache, error) {
	cache := wazero.NewCompilationCache()
	at := reflect.ValueOf(cache).Elem().FieldByName("fileCache")
	if !at.IsValid() || !reflect.TypeOf(store).AssignableTo(at.Type()) {
		return nil, errors.New("opening the compilation cache: this version of the engine has none that can be authenticated")
	}
	reflect.NewAt(at.Type(), at.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(store))
	return cache, nil
}

// maxIdleStack is how large a call stack an idle instance keeps for each export, in bytes.
// The engine lets a stack grow to what the deepest call has needed, and never shrink.
const maxIdleStack = 256 << 10

// stackBytes returns the size of the call stack that the engine keeps for a function. The
// engine does not tell; where it is not found, it is taken for small.
func (inst *instance) stackBytes(f api.Function) int {
	v := reflect.ValueOf(f)
	if inst.stackField == nil {
		inst.stackField = stackField(v)
	}
	if len(inst.stackField) == 0 {
		return 0
	}
	stack := v.Elem().FieldByIndex(inst.stackField)
	return stack.Cap() * int(stack.Type().Elem().Size())
}

// stackField returns where the engine's functions have their stack, or nothing.
func stackField(f reflect.Value) []int {
	none := []int{}
	if f.Kind() != reflect.Pointer || f.Elem().Kind() != reflect.Struct {
		return none
	}
	field, ok := f.Type().Elem().FieldByName("stack")
	if !ok || field.Type.Kind() != reflect.Slice {
		return none
	}
	return field.Index
}
