package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// bomb is a kind of module that costs a compiler more than its size shows.
type bomb struct {
	kind string
	make func(n int) []byte
	n    int    // that is refused
	why  string // what of it is
}

// someLocals declares n locals of type i32.
func someLocals(n int) string { return "\x01" + leb(n) + i32 }

func localGet(l int) string { return "\x20" + leb(l) }
func localSet(l int) string { return "\x21" + leb(l) }

// each writes what f returns for 0 to n-1.
func each(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

const (
	asmAdd  = "\x6a"
	asmEnd  = "\x0b"
	asmIf   = "\x04\x40"
	asmLoop = "\x03\x40"
	asmBlk  = "\x02\x40"
)

// sumOf adds up n locals.
func sumOf(n int) string {
	return konst(0) + each(n, func(i int) string { return localGet(i) + asmAdd })
}

func one(locals int, body string) []byte {
	return (&handmade{pages: 1}).add(fn{export: "run", sig: runSig, locals: someLocals(locals), body: body}).wasm()
}

// nestedLoops are n loops in each other, around a change of each of some locals.
func nestedLoops(n, locals int) []byte {
	change := each(locals, func(i int) string { return localGet(i) + konst(1) + asmAdd + localSet(i) })
	close := each(n, func(i int) string { return localGet(i%locals) + "\x0d\x00" + asmEnd })
	return one(locals, strings.Repeat(asmLoop, n)+change+close+konst(0))
}

// ifs are n ifs that each set one of some locals, all of which are used at the end.
func ifs(n, locals int) []byte {
	return one(locals, each(n, func(i int) string {
		return localGet(i%locals) + asmIf + localGet(i*7%locals) + localSet(i%locals) + asmEnd
	})+sumOf(locals))
}

// carried are n ifs in a loop that carries some locals around.
func carried(n, locals int) []byte {
	return one(locals, asmLoop+each(locals, func(i int) string { return localGet(i) + konst(1) + asmAdd + localSet(i) })+
		each(n, func(i int) string { return localGet(i%locals) + asmIf + konst(5) + localSet(i%locals) + asmEnd })+
		localGet(0)+"\x0d\x00"+asmEnd+sumOf(locals))
}

// setInArms are locals that are set in an arm of an if and read after it, in a loop.
func setInArms(n, locals int) []byte {
	return one(locals, asmLoop+localGet(0)+asmIf+each(locals, func(i int) string { return konst(1) + localSet(i) })+asmEnd+sumOf(locals)+opDrop+
		each(n, func(i int) string { return localGet(0) + asmIf + asmEnd })+localGet(0)+"\x0d\x00"+asmEnd+konst(0))
}

// table is a br_table of n targets, out of some blocks.
func table(n, blocks, locals int) []byte {
	targets := each(n, func(i int) string { return leb(i % blocks) })
	set := each(blocks, func(i int) string { return konst(int64(i)) + localSet(i%locals) + asmEnd })
	return one(locals, strings.Repeat(asmBlk, blocks)+localGet(0)+"\x0e"+leb(n)+targets+leb(0)+set+sumOf(locals))
}

// live are n calls during which some locals are alive.
func live(n, locals int) []byte {
	return one(locals, each(locals, func(i int) string { return call(0) + localSet(i) })+strings.Repeat(call(0)+opDrop, n)+sumOf(locals))
}

// deep is a stack of n operands over as many ifs.
func deep(n, ifs int) []byte {
	return one(1, each(n, func(i int) string { return call(0) })+strings.Repeat(localGet(0)+asmIf+asmEnd, ifs)+strings.Repeat(asmAdd, n-1))
}

// leaves are n branches to the end of one block.
func leaves(n, locals int) []byte {
	return one(locals, asmBlk+each(n, func(i int) string {
		return konst(int64(i)) + localSet(i%locals) + localGet(i%locals) + "\x0d\x00"
	})+asmEnd+sumOf(locals))
}

// nestedBlocks are n blocks in each other, each left from the middle.
func nestedBlocks(n int) []byte {
	return one(1, strings.Repeat(asmBlk, n)+each(n, func(i int) string { return localGet(0) + "\x0d" + leb(i) })+
		strings.Repeat(asmEnd, n)+konst(0))
}

// chain is n empty ifs.
func chain(n int) []byte { return one(1, strings.Repeat(localGet(0)+asmIf+asmEnd, n)+konst(0)) }

// chainOfEnds is n ifs, one after the other, of which one arm goes nowhere.
func chainOfEnds(n int) []byte {
	return one(1, strings.Repeat(localGet(0)+asmIf+opUnreachable+"\x05"+asmEnd, n)+konst(0))
}

// wide is a function that takes or answers many values, and is called n times.
func wide(n, params, results int) []byte {
	g := (&handmade{pages: 1}).add(fn{export: "run", sig: runSig, body: strings.Repeat(
		strings.Repeat(konst(1), params)+call(1)+strings.Repeat(opDrop, results), n) + konst(0)})
	return g.add(fn{sig: signature(strings.Repeat(i32, params), strings.Repeat(i32, results)), body: strings.Repeat(konst(2), results)}).wasm()
}

// passing are n blocks, each in the other, that take and leave many values.
func passing(n, values int, op string) []byte {
	g := &handmade{pages: 1}
	at := g.typeIndex(signature(strings.Repeat(i32, values), strings.Repeat(i32, values)))
	return g.add(fn{export: "run", sig: runSig, body: strings.Repeat(konst(1), values) + strings.Repeat(op+leb(int(at)), n) +
		strings.Repeat(asmEnd, n) + strings.Repeat(opDrop, values) + konst(0)}).wasm()
}

// straight is one function of about n bytes without a branch.
func straight(n int, code string) []byte {
	return one(2, localGet(0)+strings.Repeat(code, n/len(code))+opDrop+konst(0))
}

// many is n functions with the given body.
func many(n int, sig rewrite.Signature, locals, body string) []byte {
	g := (&handmade{pages: 1}).add(fn{export: "run", sig: runSig, body: konst(0)})
	for range n {
		g.add(fn{sig: sig, locals: locals, body: body})
	}
	return g.wasm()
}

// manyTypes are n types, all different.
func manyTypes(n int) []byte {
	g := runner(konst(0))
	for i := range n {
		var b strings.Builder
		for bit := range 20 {
			if i>>bit&1 == 0 {
				b.WriteString(i32)
			} else {
				b.WriteString(i64)
			}
		}
		g.types = append(g.types, signature(b.String(), ""))
	}
	return g.wasm()
}

func manyGlobals(n int) []byte {
	g := runner(konst(0))
	g.globals = leb(n) + strings.Repeat(i32+"\x01"+konst(0)+asmEnd, n)
	return g.wasm()
}

func manyExports(n int) []byte {
	g := &handmade{pages: 1}
	for i := range n {
		g.add(fn{export: fmt.Sprintf("run%d", i), sig: runSig, body: konst(0)})
	}
	return g.wasm()
}

func manyImports(n int) []byte {
	return runner(konst(0), slices.Repeat([]string{abi.CallClock}, n)...).wasm()
}

func manyTables(n int) []byte {
	g := runner(konst(0))
	g.table = leb(n) + strings.Repeat("\x70\x00\x00", n)
	return g.wasm()
}

func manySegments(n int) []byte {
	g := runner(konst(0))
	for i := range n {
		g.at(i%65536, "x")
	}
	return g.wasm()
}

// manyElements are n empty segments.
func manyElements(n int) []byte {
	g := runner(konst(0))
	wasm := g.wasm()
	code := bytes.Index(wasm, []byte{sectionCode, 6})
	segments := appendSection(nil, 9, []byte(leb(n)+strings.Repeat("\x01\x00\x00", n)))
	return slices.Concat(wasm[:code], segments, wasm[code:])
}

// bombs are refused at the size n, and may be compiled at the largest that is not.
var bombs = []bomb{
	{"nested loops over as many locals", func(n int) []byte { return nestedLoops(n, n) }, 400, "alive"},
	{"nested loops over 50 locals", func(n int) []byte { return nestedLoops(n, 50) }, 4000, "branches between"},
	{"loops over many locals", func(n int) []byte { return nestedLoops(10, n) }, 4000, "alive"},
	{"ifs over as many locals", func(n int) []byte { return ifs(n, n) }, 2000, "alive"},
	{"ifs over 50 locals", func(n int) []byte { return ifs(n, 50) }, 20_000, "alive"},
	{"ifs over 5 locals", func(n int) []byte { return ifs(n, 5) }, 25_000, "branches"},
	{"ifs in a loop over as many locals", func(n int) []byte { return carried(n, n) }, 2000, "alive"},
	{"ifs in a loop over 50 locals", func(n int) []byte { return carried(n, 50) }, 20_000, "alive"},
	{"ifs in a loop over locals set in an arm", func(n int) []byte { return setInArms(n, n) }, 2000, "alive"},
	{"ifs in a loop over 50 locals set in an arm", func(n int) []byte { return setInArms(n, 50) }, 20_000, "alive"},
	{"a table over as many blocks and locals", func(n int) []byte { return table(n, n, n) }, 2000, "alive"},
	{"a table over 50 locals", func(n int) []byte { return table(n, 50, 50) }, 100_000, "branches"},
	{"a table over one block", func(n int) []byte { return table(n, 1, 1) }, 500_000, "branches"},
	{"a table over 1000 blocks", func(n int) []byte { return table(n, 1000, 1) }, 100_000, "branches"},
	{"as many locals alive over calls", func(n int) []byte { return live(n, n) }, 20_000, "alive"},
	{"a deep stack over ifs", func(n int) []byte { return deep(n, n) }, 2000, "alive"},
	{"a deep stack", func(n int) []byte { return deep(n, 1) }, 20_000, "alive"},
	{"branches out of a block", func(n int) []byte { return leaves(n, 1) }, 20_000, "branches between"},
	{"branches out of a block with locals", func(n int) []byte { return leaves(n, n) }, 2000, "alive"},
	{"nested blocks", nestedBlocks, 12_000, "branches between"},
	{"a chain of ifs", chain, 24_000, "branches between"},
	{"a chain of ifs of which one arm ends", chainOfEnds, 15_000, "branches between"},
	{"many parameters", func(n int) []byte { return wide(1, n, 0) }, 60_000, "parameters or results"},
	{"many results", func(n int) []byte { return wide(1, 0, n) }, 60_000, "parameters or results"},
	{"calls with many parameters", func(n int) []byte { return wide(n, 250, 0) }, 1040, "values"},
	{"calls with many results", func(n int) []byte { return wide(n, 0, 250) }, 2000, "values"},
	{"blocks that pass values", func(n int) []byte { return passing(n, 250, "\x02") }, 2000, "values"},
	{"loops that pass values", func(n int) []byte { return passing(n, 250, "\x03") }, 2000, "values"},
	{"additions", func(n int) []byte { return straight(n, localGet(1)+asmAdd) }, 500_000, "values"},
	{"constants", func(n int) []byte { return straight(n, konst(1)+opDrop) }, 600_000, "bytes"},
	{"divisions", func(n int) []byte { return straight(n, localGet(1)+"\x6f") }, 100_000, "rewritten"},
	{"loads", func(n int) []byte { return straight(n, "\x28\x02\x00") }, 250_000, "accesses"},
	{"calls", func(n int) []byte { return straight(n, call(0)+opDrop) }, 250_000, "accesses"},
	{"functions", func(n int) []byte { return many(n, rewrite.Signature{}, "", "") }, 200_000, "functions"},
	{"functions with locals", func(n int) []byte { return many(n, rewrite.Signature{}, someLocals(1000), "") }, 5000, "locals"},
	{"functions with many parameters", func(n int) []byte { return many(n, signature(strings.Repeat(i32, 250), ""), "", "") }, 20_000, "alive"},
	{"types", manyTypes, 20_000, "types"},
	{"imports", manyImports, 2000, "imports"},
	{"tables", manyTables, 200, "tables"},
	{"globals", manyGlobals, 20_000, "globals"},
	{"exports", manyExports, 20_000, "exports"},
	{"element segments", manyElements, 20_000, "element segments"},
	{"data segments", manySegments, 300_000, "data segments"},
}

func rewritten(wasm []byte) error {
	_, err := rewrite.Rewrite(wasm, rewrite.Options{Transforms: rewrite.All, MaxTableEntries: maxTableEntries})
	return err
}

// TestCompilersAreNotOverworked holds that modules are refused before they are compiled
// when that would take more than their size shows, and that the reason names the figure and
// its limit.
func TestCompilersAreNotOverworked(t *testing.T) {
	for _, b := range bombs {
		err := rewritten(b.make(b.n))
		if err == nil || !strings.Contains(err.Error(), b.why) || !strings.Contains(err.Error(), "are allowed") && b.why != "locals" {
			t.Errorf("%s: %v, want a refusal that names %s", b.kind, err, b.why)
		}
		if err := rewritten(b.make(3)); err != nil {
			t.Errorf("%s: a small one is refused: %v", b.kind, err)
		}
	}
}

// TestParametersAreLocals holds that parameters count as locals do.
func TestParametersAreLocals(t *testing.T) {
	g := runner(konst(0)).add(fn{sig: signature(strings.Repeat(i32, 200), ""), locals: someLocals(49_801)})
	if err := rewritten(g.wasm()); err == nil || !strings.Contains(err.Error(), "50001 locals") {
		t.Errorf("200 parameters and 49801 locals: %v", err)
	}
}

// largest finds the largest module of a kind that is not refused, of at most 4 MiB.
func (b *bomb) largest() []byte {
	least, most := 1, b.n
	for most-least > 1+least/20 {
		n := (least + most) / 2
		if wasm := b.make(n); len(wasm) <= 4<<20 && rewritten(wasm) == nil {
			least = n
		} else {
			most = n
		}
	}
	return b.make(least)
}

const compileKind = "WHARF_TEST_COMPILE"

// TestCompilingIsBounded compiles, each in a process of its own, the largest modules that
// are not refused. A process may take 512 MiB of data and 20 seconds of a processor.
func TestCompilingIsBounded(t *testing.T) {
	if kind := os.Getenv(compileKind); kind != "" {
		i, err := strconv.Atoi(kind)
		if err != nil {
			t.Fatal(err)
		}
		wasm := bombs[i].largest()
		if _, err := newRuntime(t, Config{}).Compile(t.Context(), wasm); err != nil {
			t.Fatal(err)
		}
		return
	}
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("compiles for minutes: set WHARF_LONG=1")
	}
	mine := share.Of(t)
	for i, b := range bombs {
		t.Run(b.kind, func(t *testing.T) {
			share.Skip(t, mine, i)
			child := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -d 1000000; ulimit -t 20; exec "$@"`, "sh", os.Args[0], "-test.run", "^TestCompilingIsBounded$")
			child.Env = append(os.Environ(), fmt.Sprint(compileKind, "=", i), "GOMEMLIMIT=512MiB")
			out, err := child.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%.2000s", err, out)
			}
			t.Logf("%s of a processor", child.ProcessState.UserTime())
		})
	}
}
