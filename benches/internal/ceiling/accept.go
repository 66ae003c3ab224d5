package ceiling

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
	"github.com/oklog/ulid/v2"
	"github.com/valyala/fasthttp"
)

// Memory settings of the node's own store, so that neither side is favoured.
const (
	cacheBytes    = 32 << 20
	memtableBytes = 64 << 20
)

// submission is what the ceiling decodes of a request: all the members that the
// load sends.
type submission struct {
	Input struct {
		Role  string `json:"role"`
		Parts []struct {
			Type       string `json:"type"`
			Text       string `json:"text"`
			Visibility string `json:"visibility"`
		} `json:"parts"`
	} `json:"input"`
	PersonaID string            `json:"persona_id"`
	Metadata  map[string]string `json:"metadata"`
}

// Accept serves on ln until ctx ends: each request is decoded and committed,
// durably, to a store in dir before it is answered. Pebble groups the commits of
// concurrent requests by itself.
func Accept(ctx context.Context, ln net.Listener, dir string) (err error) {
	db, err := pebble.Open(dir, storeOptions())
	if err != nil {
		return fmt.Errorf("opening the ceiling's store: %w", err)
	}
	defer db.Close()
	a := &acceptor{db: db}
	server := &fasthttp.Server{Handler: a.handle, NoDefaultServerHeader: true}
	return serve(ctx, server, ln)
}

func storeOptions() *pebble.Options {
	return &pebble.Options{
		CacheSize:          cacheBytes,
		MemTableSize:       memtableBytes,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             quiet{},
	}
}

// serve runs the server until ctx ends.
func serve(ctx context.Context, server *fasthttp.Server, ln net.Listener) error {
	stop := context.AfterFunc(ctx, func() { server.Shutdown() })
	defer stop()
	if err := server.Serve(ln); err != nil {
		return fmt.Errorf("serving the ceiling: %w", err)
	}
	return nil
}

type acceptor struct {
	db   *pebble.DB
	last atomic.Uint64
}

func (a *acceptor) handle(ctx *fasthttp.RequestCtx) {
	var task submission
	if err := json.Unmarshal(ctx.PostBody(), &task); err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	id := ulid.Make()
	if err := a.commit(id, ctx.PostBody()); err != nil {
		ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusAccepted)
	ctx.SetContentType("application/json")
	ctx.SetBody(answer(id, task.Input.Role))
}

// commit writes what the least of servers would have to: the event, a pointer
// from the task to it, and a pointer from the client's key to it.
func (a *acceptor) commit(id ulid.ULID, body []byte) error {
	position := binary.BigEndian.AppendUint64(nil, a.last.Add(1))
	batch := a.db.NewBatch()
	defer batch.Close()
	batch.Set(key('e', position), body, nil)
	batch.Set(key('t', id[:]), position, nil)
	batch.Set(key('i', id[:]), position, nil)
	return batch.Commit(pebble.Sync)
}

func key(space byte, rest []byte) []byte { return append([]byte{space}, rest...) }

// answer is a small resource.
func answer(id ulid.ULID, role string) []byte {
	out := append([]byte(`{"id":"task_`), id.String()...)
	out = append(out, `","object":"task","status":"SUBMITTED","role":"`...)
	return append(append(out, role...), `"}`...)
}

// quiet drops what Pebble has to say while all goes well.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}
