package rewrite

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// nanFunc is a function of a test module, written in the names of the opcode table:
// "local.get 0 f64.const 1.5 f64.add". Types are its letters: "dd>d".
type nanFunc struct {
	sig, locals, body string
}

// nanModule builds a module with a page of memory, mutable globals 0 to 2 of the
// types f32, f64 and v128, and a table that holds its functions, which are exported
// as f0, f1 and so on.
func nanModule(t testing.TB, funcs ...nanFunc) []byte {
	a := &assembler{t: t, types: map[string]uint32{}}
	var bodies, indexes, exports, elements []byte
	for i, f := range funcs {
		indexes = appendU32(indexes, a.typeOf(f.sig))
		exports = appendU32(append(appendName(exports, fmt.Sprintf("f%d", i)), externFunc), uint32(i))
		elements = appendU32(elements, uint32(i))
		body := a.body(f)
		bodies = append(appendU32(bodies, uint32(len(body))), body...)
	}
	exports = append(appendName(exports, "memory"), externMemory, 0)
	n := uint32(len(funcs))
	globals := "\x7d\x01\x43\x00\x00\x00\x00\x0b" + "\x7c\x01\x44" + strings.Repeat("\x00", 8) + "\x0b" +
		"\x7b\x01\xfd\x0c" + strings.Repeat("\x00", 16) + "\x0b"
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, count uint32, content []byte) {
		out = appendSection(out, id, append(appendU32(nil, count), content...))
	}
	section(sectionType, uint32(len(a.types)), a.encoded)
	section(sectionFunction, n, indexes)
	section(sectionTable, 1, appendU32([]byte{byte(funcref), 0}, n))
	section(sectionMemory, 1, []byte{0, 1})
	section(sectionGlobal, 3, []byte(globals))
	section(sectionExport, n+1, exports)
	section(sectionElement, 1, append(appendU32([]byte{0, 0x41, 0, 0x0b}, n), elements...))
	section(sectionCode, n, bodies)
	return out
}

// assembler turns text into code.
type assembler struct {
	t       testing.TB
	types   map[string]uint32
	encoded []byte
	words   []string
}

func (a *assembler) typeOf(sig string) uint32 {
	if i, ok := a.types[sig]; ok {
		return i
	}
	a.types[sig] = uint32(len(a.types))
	params, results, _ := strings.Cut(sig, ">")
	a.encoded = append(a.encoded, formFunc)
	for _, letters := range []string{params, results} {
		a.encoded = appendU32(a.encoded, uint32(len(letters)))
		for _, t := range valTypes(letters) {
			a.encoded = append(a.encoded, byte(t))
		}
	}
	return a.types[sig]
}

func (a *assembler) body(f nanFunc) []byte {
	out := appendU32(nil, uint32(len(f.locals)))
	for _, t := range valTypes(f.locals) {
		out = append(out, 1, byte(t))
	}
	names := opcodeNames()
	for a.words = strings.Fields(f.body + " end"); len(a.words) > 0; {
		name := a.next()
		op, ok := names[name]
		if !ok {
			a.t.Fatalf("no opcode is called %q", name)
		}
		out = a.immediate(appendOp(out, op), op.info().imm)
	}
	return out
}

func opcodeNames() map[string]opcode {
	names := map[string]opcode{}
	for _, r := range runs {
		for i, name := range strings.Fields(r.names) {
			names[name] = r.first + opcode(i)
		}
	}
	return names
}

func (a *assembler) next() string {
	word := a.words[0]
	a.words = a.words[1:]
	return word
}

func (a *assembler) int() int64 {
	word := a.next()
	if u, err := strconv.ParseUint(word, 0, 64); err == nil {
		return int64(u)
	}
	v, err := strconv.ParseInt(word, 0, 64)
	if err != nil {
		a.t.Fatal(err)
	}
	return v
}

// float reads a number, or the bits of one behind a colon.
func (a *assembler) float(bits int) uint64 {
	word := a.next()
	if raw, ok := strings.CutPrefix(word, ":"); ok {
		v, err := strconv.ParseUint(raw, 0, 64)
		if err != nil {
			a.t.Fatal(err)
		}
		return v
	}
	v, err := strconv.ParseFloat(word, bits)
	if err != nil {
		a.t.Fatal(err)
	}
	if bits == 32 {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(v)
}

func (a *assembler) immediate(out []byte, kind immediate) []byte {
	le := binary.LittleEndian
	switch kind {
	case immBlock:
		if sig := a.next(); sig == ">" {
			return append(out, 0x40)
		} else {
			return appendS64(out, int64(a.typeOf(sig)))
		}
	case immLabels:
		n := a.int()
		out = appendU32(out, uint32(n))
		for range n + 1 {
			out = appendU32(out, uint32(a.int()))
		}
	case immLabel, immFunc, immLocal, immGlobal, immTable, immElem, immData:
		out = appendU32(out, uint32(a.int()))
	case immTables, immMemories, immElemTo, immDataTo:
		out = appendU32(out, uint32(a.int()))
		out = appendU32(out, uint32(a.int()))
	case immRefType:
		out = append(out, byte(valTypes(a.next())[0]))
	case immIndirect:
		out = append(appendU32(out, a.typeOf(a.next())), 0)
	case immMemArg:
		out = appendU32(append(out, 0), uint32(a.int()))
	case immI32:
		out = appendS64(out, int64(int32(a.int())))
	case immI64:
		out = appendS64(out, a.int())
	case immF32:
		out = le.AppendUint32(out, uint32(a.float(32)))
	case immF64:
		out = le.AppendUint64(out, a.float(64))
	case immV128:
		out = le.AppendUint64(out, uint64(a.int()))
		out = le.AppendUint64(out, uint64(a.int()))
	case immShuffle:
		for range 16 {
			out = append(out, byte(a.int()))
		}
	case immLane, immMemory:
		out = append(out, byte(a.int()))
	case immTypes:
		out = append(out, 1, byte(valTypes(a.next())[0]))
	case immNone:
	default:
		a.t.Fatalf("immediates of the kind %d cannot be written", kind)
	}
	return out
}
