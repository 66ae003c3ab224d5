package ceiling

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"

	"github.com/cockroachdb/pebble/v2"
	"github.com/oklog/ulid/v2"
	"github.com/valyala/fasthttp"
)

// Deliver serves on ln until ctx ends: the signature of each request is checked, and
// its body committed, durably, to a store in dir before it is answered.
func Deliver(ctx context.Context, ln net.Listener, dir, secret string) error {
	db, err := pebble.Open(dir, storeOptions())
	if err != nil {
		return fmt.Errorf("opening the ceiling's store: %w", err)
	}
	defer db.Close()
	d := &deliverer{acceptor: acceptor{db: db}, secret: []byte(secret)}
	return serve(ctx, &fasthttp.Server{Handler: d.handle, NoDefaultServerHeader: true}, ln)
}

type deliverer struct {
	acceptor
	secret []byte
}

func (d *deliverer) handle(ctx *fasthttp.RequestCtx) {
	mac := hmac.New(sha256.New, d.secret)
	mac.Write(ctx.PostBody())
	want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	if !hmac.Equal(ctx.Request.Header.Peek("X-Hub-Signature-256"), []byte(want)) {
		ctx.SetStatusCode(fasthttp.StatusUnauthorized)
		return
	}
	id := ulid.Make()
	if err := d.commit(id, ctx.PostBody()); err != nil {
		ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusAccepted)
	ctx.SetContentType("application/json")
	ctx.SetBodyString(`{"status":"accepted","id":"dlv_` + id.String() + `"}`)
}
