package node

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

var update = flag.Bool("update", false, "rewrite generated documents")

const testKey = "a-key-for-this-test"

// logged is a log that is read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// served starts a node and serves it until stop is called.
func served(t *testing.T, o Options) (n *Node, stop func()) {
	t.Helper()
	o.APIKey = testKey
	n, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Serve(ctx) }()
	return n, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// families reads what a listener for metrics shows.
func families(t *testing.T, url string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(get(t, url+"/metrics")))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// unsaid is the header of a delivery that says nothing.
type unsaid struct{}

func (unsaid) Get(string) []byte              { return nil }
func (unsaid) All() iter.Seq2[[]byte, []byte] { return func(func([]byte, []byte) bool) {} }

// deliver makes a Connector and hands it a delivery.
func deliver(t *testing.T, n *Node) {
	t.Helper()
	root, err := n.engine.Authenticate(t.Context(), testKey)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := n.engine.CreateConnector(t.Context(), root, nil, abi.CreateConnectorRequest{Provider: "generic", WorkspaceID: tenancy.DefaultWorkspace, TargetPersonaID: "persona_echo"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.engine.ReceiveDelivery(t.Context(), root, doc.ID, &intake.Incoming{Method: "POST", Header: unsaid{}, Body: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
}

// The page on observability lists every metric that a node has, as a node shows it.
func TestMetricsAreDocumented(t *testing.T) {
	o := options(t, map[string]string{"metrics.listen": "127.0.0.1:0", "tasks.persona": "persona_echo", "log.access": filepath.Join(t.TempDir(), "access.log")})
	n, stop := served(t, o)
	defer stop()
	url := "http://" + n.MetricsAddr().String()
	if fresh := samples(families(t, url)); fresh > 200 {
		t.Errorf("a fresh node has %d samples", fresh)
	}
	runOne(t, n)
	deliver(t, n)
	n.figures.Answered("m", "script", abi.ModelUsage{InputTokens: 1, OutputTokens: 1}, 1, "USD")
	get(t, n.URL()+"/healthz")
	all := families(t, url)
	for all["wharf_plugin_tasks_total"] == nil { // who waits for a Task may hear of its end before it is counted
		runtime.Gosched()
		all = families(t, url)
	}
	got := table(all)
	const page = "../../../../docs/observability.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- metrics: from a node -->\n", "<!-- end of metrics -->"
	before, rest, ok := strings.Cut(string(text), from)
	was, after, closed := strings.Cut(rest, to)
	if !ok || !closed {
		t.Fatal("the page has no place for the table")
	}
	if was == got {
		return
	}
	if !*update {
		t.Fatalf("docs/observability.md does not list what a node shows: run go test ./cmd/wharf/internal/node -run TestMetricsAreDocumented -update\n%s", got)
	}
	if err := os.WriteFile(page, []byte(before+from+got+to+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

func samples(all map[string]*dto.MetricFamily) (n int) {
	for _, f := range all {
		n += len(f.Metric)
	}
	return n
}

// table writes families as a table; those of Go's own runtime and the process are left out.
func table(all map[string]*dto.MetricFamily) string {
	var b strings.Builder
	b.WriteString("| metric | kind | labels | what it says |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(name, "wharf_") {
			continue
		}
		labels := map[string]bool{}
		for _, m := range all[name].Metric {
			for _, l := range m.Label {
				labels["`"+l.GetName()+"`"] = true
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, strings.ToLower(all[name].GetType().String()), strings.Join(slices.Sorted(maps.Keys(labels)), ", "), all[name].GetHelp())
	}
	return b.String()
}

// A Task that fails is in the log once, whatever becomes of the node afterwards, and counted by its
// plugin and code; a request is a line of the access log.
func TestFailedTasksAreToldOnce(t *testing.T) {
	log := &logged{}
	access := filepath.Join(t.TempDir(), "access.log")
	o := options(t, map[string]string{"metrics.listen": "127.0.0.1:0", "tasks.persona": "persona_echo", "tasks.gas": "1000", "log.access": access})
	o.Log = slog.New(slog.NewJSONHandler(log, nil))
	n, stop := served(t, o)
	runOne(t, n)
	get(t, n.URL()+"/healthz?key=canary")
	stop()
	if all := n.figures.Plugins(); len(all) != 1 || all[0].Name != "echo" || all[0].Failed[abi.FailurePluginGas] != 1 || all[0].Runs != 1 || all[0].Gas == 0 {
		t.Errorf("the figures say %+v", all)
	}
	_, stop = served(t, o)
	stop()
	lines := strings.Count(log.String(), `"msg":"task failed"`)
	if !strings.Contains(log.String(), `"code":"plugin_out_of_gas","plugin":"echo","persona":"persona_echo"`) || lines != 1 || strings.Contains(log.String(), "canary") {
		t.Errorf("%d lines: %s", lines, log.String())
	}
	text, err := os.ReadFile(access)
	if err != nil {
		t.Fatal(err)
	}
	var line struct{ Path, Operation, Protocol string }
	if err := json.Unmarshal(bytes.TrimSpace(text), &line); err != nil || line.Path != "/healthz" || line.Operation != "getLiveness" || line.Protocol != "http" {
		t.Errorf("%s: %v", text, err)
	}
}

// Addresses and files that cannot be had end a start with words for people.
func TestObservingThatCannotBe(t *testing.T) {
	n, stop := served(t, options(t, nil))
	defer stop()
	taken := strings.TrimPrefix(n.URL(), "http://")
	for name, test := range map[string]struct {
		settings map[string]string
		want     string
	}{
		"taken":     {map[string]string{"metrics.listen": taken}, "(metrics.listen)"},
		"no folder": {map[string]string{"log.access": filepath.Join(t.TempDir(), "x", "access.log")}, "folder that does not exist"},
		"a folder":  {map[string]string{"log.access": t.TempDir()}, "cannot be written"},
	} {
		started, err := Start(t.Context(), options(t, test.settings))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = started.Close()
		}
	}
}

// Whoever makes Connectors without end does not make metrics grow: a hundred are told apart.
func TestConnectorsAreBounded(t *testing.T) {
	n, stop := served(t, options(t, nil))
	defer stop()
	for range 110 {
		deliver(t, n)
		n.engine.DeliveryStats() // which is when they are told apart
	}
	if all := n.engine.DeliveryStats().Connectors; len(all) != 101 || all[100].ID != "" || all[100].Received != 10 {
		t.Errorf("%d are told apart: %+v", len(all), all[len(all)-1])
	}
}
