package ceiling

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/benches/internal/load"
)

// TestAcceptKeepsWhatItAcknowledged holds that the ceiling does the work that it
// is a ceiling for: three keys for each acknowledged Task.
func TestAcceptKeepsWhatItAcknowledged(t *testing.T) {
	dir := t.TempDir()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Accept(ctx, ln, dir) }()

	body := []byte(`{"input":{"role":"user","parts":[{"type":"text","text":"hello","visibility":"public"}]}}`)
	result, err := load.Run(t.Context(), load.Plan{
		Addr: ln.Addr().String(), Conns: 4, Measure: time.Minute, MaxRequests: 100,
		Counts: func(status int, _ []byte) bool { return status == fasthttp.StatusAccepted },
		Requests: func(int) *load.Request {
			return load.NewRequest("POST", ln.Addr().String(), "/v1/sessions/s/tasks", nil, true, body)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if result.Counted != 100 || len(result.Refused) != 0 || len(result.IDs) != 100 {
		t.Fatalf("counted %d, refused %v, %d ids", result.Counted, result.Refused, len(result.IDs))
	}
	if got := countKeys(t, dir); got != 300 {
		t.Errorf("the store holds %d keys, want 300", got)
	}
}

func countKeys(t *testing.T, dir string) (n int) {
	t.Helper()
	db, err := pebble.Open(dir, storeOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	keys, err := db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	for keys.First(); keys.Valid(); keys.Next() {
		n++
	}
	return n
}

func TestAcceptRefusesWhatIsNoTask(t *testing.T) {
	a := &acceptor{}
	var ctx fasthttp.RequestCtx
	ctx.Request.SetBodyString(`{"input":`)
	a.handle(&ctx)
	if got := ctx.Response.StatusCode(); got != fasthttp.StatusBadRequest {
		t.Errorf("answered with %d", got)
	}
}
