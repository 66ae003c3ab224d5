package rewrite

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// workload is a function of a guest that is measured.
type workload struct{ name, source, export string }

var workloads = []workload{
	{"fib", "fib.c", "run"},
	{"sha256 in C", "sha256.c", "run"},
	{"matrix", "matrix.c", "run"},
	{"mandelbrot", "mandelbrot.c", "run"},
	{"json in Go", "guest", "json"},
	{"sha256 in Go", "guest", "sha256"},
}

// build compiles a source of testdata/bench.
func build(b testing.TB, source string) []byte {
	b.Helper()
	out := filepath.Join(b.TempDir(), "out.wasm")
	command := strings.Fields("clang --target=wasm32 -O2 -fno-vectorize -fno-slp-vectorize -nostdlib -Wl,--no-entry -o " + out + " " + source)
	dir := "testdata/bench"
	if source == "guest" {
		command, dir = strings.Fields("go build -buildmode=c-shared -o "+out+" ."), "testdata/bench/guest"
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		b.Skipf("skipped: %s is not installed", command[0])
	}
	cmd := exec.CommandContext(b.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("building %s: %v\n%s", source, err, text)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		b.Fatal(err)
	}
	return wasm
}

// BenchmarkOverhead runs each guest as it is and with each transform in turn, and
// reports how much longer each takes: the ratio of the shortest times, in percent,
// which a busy machine disturbs least.
func BenchmarkOverhead(b *testing.B) {
	built := map[string][]byte{}
	forms := []struct {
		name string
		t    Transforms
	}{{"plain", 0}, {"gas", Gas}, {"depth", Depth}, {"nan", NaN}, {"all", All &^ Restore}}
	for _, w := range workloads {
		if built[w.source] == nil {
			built[w.source] = build(b, w.source)
		}
		b.Run(w.name, func(b *testing.B) {
			runs, best := make([]func(), len(forms)), make([]time.Duration, len(forms))
			for i, form := range forms {
				runs[i], best[i] = workloadOf(b, built[w.source], w.export, form.t), time.Hour
			}
			for b.Loop() {
				for i, run := range runs {
					begun := time.Now()
					run()
					best[i] = min(best[i], time.Since(begun))
				}
			}
			for i := 1; i < len(forms); i++ {
				b.ReportMetric(100*(float64(best[i])/float64(best[0])-1), forms[i].name+"%")
			}
			b.ReportMetric(float64(best[0].Microseconds()), "plain-µs")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// workloadOf instantiates a guest and returns what runs it once.
func workloadOf(b testing.TB, wasm []byte, export string, t Transforms) func() {
	b.Helper()
	ctx := context.Background()
	m, err := Rewrite(wasm, Options{Transforms: t})
	if err != nil {
		b.Fatal(err)
	}
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
	b.Cleanup(func() { _ = r.Close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	yield := func(_ context.Context, stack []uint64) {
		if int64(stack[1]) < 0 {
			panic("too deep")
		}
		stack[0] = 1 << 40
	}
	_, err = r.NewHostModuleBuilder(YieldModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(yield), []api.ValueType{api.ValueTypeI64, api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).
		Export(YieldName).Instantiate(ctx)
	if err != nil {
		b.Fatal(err)
	}
	guest, err := r.InstantiateWithConfig(ctx, m.Wasm, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		b.Fatal(err)
	}
	f := guest.ExportedFunction(export)
	return func() {
		if _, err := f.Call(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
