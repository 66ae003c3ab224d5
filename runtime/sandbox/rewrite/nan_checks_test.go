package rewrite

import (
	"fmt"
	"strings"
	"testing"
)

// Checks are where they are needed, and cheap: outside of loops, once.
func TestNaNChecks(t *testing.T) {
	const sum = "local.get 2 local.get 0 f64.load 0 local.get 0 f64.load 8 f64.mul f64.add local.set 2"
	loop := func(body string) string {
		return "loop > " + body + " local.get 0 i32.const -8 i32.add local.tee 0 br_if 0 end "
	}
	cases := []struct {
		name string
		f    nanFunc
		// after are the instructions that are followed by a check, by their opcode.
		after string
	}{
		{"no float", nanFunc{"i>i", "", "local.get 0 i32.const 1 i32.add"}, ""},
		{"arithmetic", nanFunc{"d>d", "", "local.get 0 f64.sqrt local.get 0 f64.add f64.floor"}, "f64.floor"},
		{"never told", nanFunc{"dd>i", "", "local.get 0 local.get 1 f64.add local.get 0 f64.neg f64.lt"}, ""},
		{"truncated", nanFunc{"dd>i", "", "local.get 0 local.get 1 f64.add i32.trunc_sat_f64_s"}, ""},
		{"dropped", nanFunc{"d>", "", "local.get 0 f64.sqrt drop"}, ""},
		{"moved only", nanFunc{"d>d", "d", "local.get 0 local.set 1 block >d local.get 1 end"}, ""},
		{"numbers", nanFunc{"i>d", "d", "local.get 0 f64.convert_i32_s f64.neg local.set 1 local.get 1"}, ""},
		{"a local that starts at zero", nanFunc{">d", "d", "local.get 0 f64.neg"}, ""},
		{"dot product", nanFunc{"ii>d", "d", loop(sum) + "local.get 2"}, "local.get"},
		{"dot product, stored at the end", nanFunc{"ii>", "d", loop(sum) + "i32.const 0 local.get 2 f64.store 0"}, "local.get"},
		{"sign of a sum that is not told", nanFunc{"ii>i", "d", loop(sum) + "local.get 2 f64.neg f64.const 0 f64.gt"}, ""},
		{"stored in the loop", nanFunc{"id>", "", loop("local.get 0 local.get 1 local.get 0 f64.load 0 f64.mul f64.store 0")}, "f64.mul"},
		{"made outside of the loop, stored in it", nanFunc{"id>", "d", "local.get 1 f64.sqrt local.set 2 " + loop("local.get 0 local.get 2 f64.store 0")}, "f64.sqrt"},
		{"two lives of a local", nanFunc{"ii>d", "d", "i32.const 0 i32.const 0 f64.load 0 local.tee 2 f64.store 8 f64.const 0 local.set 2 " +
			loop(sum) + "local.get 2 f64.const 2 f64.div local.set 2 local.get 1 f64.load 0 local.set 2 local.get 2"}, ""},
		{"passed or made", nanFunc{"id>d", "", "local.get 0 if > local.get 1 f64.sqrt local.set 1 end local.get 1"}, "f64.sqrt"},
		{"select of two that were made", nanFunc{"id>d", "", "local.get 1 f64.sqrt local.get 1 f64.ceil local.get 0 select"}, "select"},
		{"select with what was passed", nanFunc{"id>d", "", "local.get 1 f64.sqrt local.get 1 local.get 0 select"}, "f64.sqrt"},
		{"select for arithmetic", nanFunc{"id>i", "", "local.get 1 f64.sqrt local.get 1 local.get 0 select f64.const 2 f64.mul f64.const 0 f64.ge"}, ""},
		{"complex iteration", nanFunc{"dd>i", "ddi", "loop > local.get 2 local.get 2 f64.mul local.get 3 local.get 3 f64.mul f64.sub local.get 0 f64.add" +
			" local.get 2 local.get 3 f64.mul f64.const 2 f64.mul local.get 1 f64.add local.set 3 local.set 2" +
			" local.get 2 local.get 2 f64.mul local.get 3 local.get 3 f64.mul f64.add f64.const 4 f64.lt br_if 0 end local.get 4"}, ""},
		{"dot product of vectors", nanFunc{"ii>f", "v", loop("local.get 2 local.get 0 v128.load 0 local.get 0 v128.load 16 f32x4.mul f32x4.add local.set 2") +
			"local.get 2 f32x4.extract_lane 0 local.get 2 f32x4.extract_lane 1 f32.add"}, "f32.add"},
		{"horizontal sum by shuffles", nanFunc{"v>f", "v", "local.get 0 local.get 0 f32x4.add local.tee 1 local.get 1 local.get 1" +
			" i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 f32x4.add f32x4.extract_lane 0"}, "f32x4.extract_lane"},
		{"vectors read as another format", nanFunc{"v>v", "", "local.get 0 f64x2.sqrt f32x4.sqrt"}, "f64x2.sqrt f32x4.sqrt"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := checkedAfter(t, c.f); got != c.after {
				t.Errorf("checks are after %q, expected %q", got, c.after)
			}
		})
	}
}

// checkedAfter names the instructions of a function that are followed by a check.
func checkedAfter(t *testing.T, f nanFunc) string {
	var names []string
	each(t, nanModule(t, f), func(f *function) {
		canonicalize(f)
		for _, e := range f.edits {
			if e.place%2 == 1 {
				names = append(names, fmt.Sprint(f.code[e.place/2].op))
			}
		}
	})
	return strings.Join(names, " ")
}
