package rewrite_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// specSuite is a folder of the WebAssembly core test suite, and what an engine has
// to accept to run it.
type specSuite struct {
	name     string
	features api.CoreFeatures
}

var specSuites = []specSuite{
	{"v1", api.CoreFeaturesV1},
	{"v2", api.CoreFeaturesV2},
	{"tail-call", api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall},
	{"extended-const", api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst},
}

// specFolder finds the suite, which ships inside the engine's own Go module.
func specFolder(t testing.TB) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Skipf("the WebAssembly test suite is read from the module cache, which the go command does not show: %v", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the WebAssembly test suite is not in the module cache (a vendored engine comes without it)")
	}
	return dir
}

// specScript is one file of the suite: commands in their order.
type specScript struct {
	suite    specSuite
	dir      string
	name     string
	Commands []specCommand `json:"commands"`
}

type specCommand struct {
	Kind       string      `json:"type"`
	Line       int         `json:"line"`
	Name       string      `json:"name"`
	Filename   string      `json:"filename"`
	As         string      `json:"as"`
	Action     specAction  `json:"action"`
	Expected   []specValue `json:"expected"`
	ModuleType string      `json:"module_type"`
	Text       string      `json:"text"`
}

type specAction struct {
	Kind   string      `json:"type"`
	Args   []specValue `json:"args"`
	Field  string      `json:"field"`
	Module string      `json:"module"`
}

// specValue is an argument, or what a result is compared with: text, or a list of
// texts for the lanes of a v128.
type specValue struct {
	Type     string `json:"type"`
	LaneType string `json:"lane_type"`
	Value    any    `json:"value"`
}

// specScripts reads every file of the given suite.
func specScripts(t testing.TB, root string, suite specSuite) []*specScript {
	dir := filepath.Join(root, suite.name, "testdata")
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files in %s: %v", len(paths), dir, err)
	}
	var scripts []*specScript
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := &specScript{suite: suite, dir: dir, name: strings.TrimSuffix(filepath.Base(path), ".json")}
		if err := json.Unmarshal(raw, s); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		scripts = append(scripts, s)
	}
	return scripts
}

// binaries reads the modules that the script names, by file name, without those
// that are text.
func (s *specScript) binaries(t testing.TB) map[string][]byte {
	out := map[string][]byte{}
	for _, c := range s.Commands {
		if filepath.Ext(c.Filename) != ".wasm" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(s.dir, c.Filename))
		if err != nil {
			t.Fatal(err)
		}
		out[c.Filename] = raw
	}
	return out
}

// lanePattern is what a lane, or a whole value, has to be: bits, or any NaN of a
// class.
type lanePattern struct {
	width int // in bits
	bits  uint64
	nan   string // "", or nan:canonical, nan:arithmetic
}

// lanes splits a value into its parts.
func (v specValue) lanes() []lanePattern {
	list, ok := v.Value.([]any)
	if !ok {
		text, _ := v.Value.(string)
		return []lanePattern{parseLane(v.Type, text)}
	}
	var out []lanePattern
	for _, lane := range list {
		out = append(out, parseLane(v.LaneType, lane.(string)))
	}
	return out
}

var specWidths = map[string]int{
	"i8": 8, "i16": 16, "i32": 32, "f32": 32, "i64": 64, "f64": 64, "funcref": 64, "externref": 64,
}

func parseLane(kind, text string) lanePattern {
	p := lanePattern{width: specWidths[kind]}
	switch {
	case strings.HasPrefix(text, "nan:"):
		p.nan = text
	case text == "" || text == "null":
	case strings.HasPrefix(text, "-"):
		n, err := strconv.ParseInt(text, 10, 64)
		must(err)
		p.bits = uint64(n) & ones(p.width)
	default:
		n, err := strconv.ParseUint(text, 10, 64)
		must(err)
		p.bits = n
		if kind == "externref" {
			p.bits++ // the engine takes 0 for null
		}
	}
	return p
}

// any reports whether every value of the type will do.
func (v specValue) any() bool { return v.Value == nil }

// words encodes a value as the engine takes it.
func (v specValue) words() []uint64 {
	lanes := v.lanes()
	if v.Type != "v128" {
		return []uint64{lanes[0].bits}
	}
	out := make([]uint64, 2)
	for i, l := range lanes {
		at := i * l.width
		out[at/64] |= l.bits << (at % 64)
	}
	return out
}

// wordsOf encodes arguments.
func wordsOf(values []specValue) []uint64 {
	var out []uint64
	for _, v := range values {
		out = append(out, v.words()...)
	}
	return out
}

// matches compares results with what was expected, bit by bit. Where strict, a NaN
// that may have any bits must be the positive canonical one.
func matches(expected []specValue, results []uint64, strict bool) error {
	var want int
	for _, v := range expected {
		n := len(v.words())
		if want+n > len(results) {
			return fmt.Errorf("%d words of results, %d and more expected", len(results), want+n)
		}
		if err := v.match(results[want:want+n], strict); err != nil {
			return fmt.Errorf("result %#x: %w", results, err)
		}
		want += n
	}
	if want != len(results) {
		return fmt.Errorf("%d words of results, %d expected", len(results), want)
	}
	return nil
}

func (v specValue) match(words []uint64, strict bool) error {
	if v.any() {
		return nil
	}
	for i, l := range v.lanes() {
		at := i * l.width
		got := words[at/64] >> (at % 64) & ones(l.width)
		if !l.match(got, strict) {
			return fmt.Errorf("lane %d is %#x, expected %#x%s", i, got, l.bits, l.nan)
		}
	}
	return nil
}

func (p lanePattern) match(got uint64, strict bool) bool {
	canonical, sign := canonicalNaN(p.width), uint64(1)<<(p.width-1)
	switch {
	case p.nan == "":
		return got == p.bits
	case strict:
		return got == canonical
	case p.nan == "nan:canonical":
		return got&^sign == canonical
	}
	return got&canonical == canonical
}

func canonicalNaN(width int) uint64 {
	if width == 32 {
		return 0x7fc00000
	}
	return 0x7ff8000000000000
}

func ones(width int) uint64 { return math.MaxUint64 >> (64 - width) }

// hasNaN reports whether a result may be one of several NaNs.
func hasNaN(expected []specValue) bool {
	return slices.ContainsFunc(expected, func(v specValue) bool {
		return slices.ContainsFunc(v.lanes(), func(l lanePattern) bool { return l.nan != "" })
	})
}

// specTrap returns how the engine words a trap of the suite.
func specTrap(text string) string {
	switch text {
	case "indirect call":
		return "indirect call type mismatch"
	case "undefined", "undefined element", "out of bounds table access":
		return "invalid table access"
	case "call stack exhausted":
		return "stack overflow"
	}
	if strings.HasPrefix(text, "uninitialized") {
		return "invalid table access"
	}
	return text
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
