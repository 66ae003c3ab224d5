package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// demoBank is the world outside of the demo's node: a bank that takes payments, and takes its time with receipts.
type demoBank struct {
	url    string
	server *http.Server
	asked  chan struct{} // closed when it was asked for a receipt
	hold   chan struct{} // closed when receipts are given
	once   sync.Once

	mu    sync.Mutex
	heard int      // requests
	paid  []string // what was paid, by each request
}

func openDemoBank(ctx context.Context) (*demoBank, error) {
	b := &demoBank{asked: make(chan struct{}), hold: make(chan struct{})}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening the bank of the demo: %w", err)
	}
	b.url = "http://" + ln.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /payments", b.pay)
	mux.HandleFunc("GET /receipt", b.receipt)
	b.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = b.server.Serve(ln) }() // until close; a request that fails tells
	return b, nil
}

func (b *demoBank) pay(w http.ResponseWriter, r *http.Request) {
	what, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<10))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard++
	b.paid = append(b.paid, string(what))
	fmt.Fprint(w, "booked")
}

// receipt is given when the bank no longer holds it back. Whoever has gone by then gets none.
func (b *demoBank) receipt(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.heard++
	b.mu.Unlock()
	b.once.Do(func() { close(b.asked) })
	select {
	case <-b.hold:
		fmt.Fprint(w, "The rent is paid, once.")
	case <-r.Context().Done():
	}
}

// release has the bank give receipts from now on.
func (b *demoBank) release() { close(b.hold) }

// payments returns how many payments the bank has booked, and how many requests it has heard of.
func (b *demoBank) payments() (paid, heard int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.paid), b.heard
}

// errPaidTwice says that the node did not keep what the demo is there to show.
var errPaidTwice = errors.New("the bill was paid twice")

func (b *demoBank) close() { _ = b.server.Close() }
