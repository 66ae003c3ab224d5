package fanout

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/benches/internal/ceiling"
)

func TestDechunkerTakesOffTheFramingWhereverItIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunks := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 1, 300)).Draw(t, "chunks")
		wire := []byte{}
		for _, c := range chunks {
			wire = append(wire, ceiling.Chunk(c)...)
		}
		wire = append(wire, "0\r\n\r\n"...)
		var d dechunker
		var got []byte
		for len(wire) > 0 {
			n := rapid.IntRange(1, len(wire)).Draw(t, "piece")
			if err := d.feed(wire[:n], func(p []byte) { got = append(got, p...) }); err != nil {
				t.Fatal(err)
			}
			wire = wire[n:]
		}
		if want := bytes.Join(chunks, nil); !bytes.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestDechunkerRefusesWhatIsNoSize(t *testing.T) {
	var d dechunker
	if err := d.feed([]byte("nonsense\r\n"), func([]byte) {}); err == nil {
		t.Error("a size that is no number was accepted")
	}
}

func TestReaderCountsEventsWhereverTheyAreCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 20).Draw(t, "events")
		stream := []byte(strings.Repeat("id: 1\nevent: x\ndata: {\"t\":\"\\ndata: event: x\"}\n\n: heartbeat\n\nevent: xs\ndata: {}\n\n", n))
		r := reader{mark: EventsOf("x")}
		if rapid.Bool().Draw(t, "every") {
			r.mark, n = EveryEvent, 2*n
		}
		for len(stream) > 0 {
			size := rapid.IntRange(1, min(len(stream), 9)).Draw(t, "piece")
			r.count(stream[:size])
			stream = stream[size:]
		}
		if got := int(r.seen.Load()); got != n {
			t.Fatalf("counted %d events, want %d", got, n)
		}
	})
}

// TestReadersOfTheBareWriterLoop holds both sides of the fan-out's ceiling: each
// reader gets each event, and not before the start.
func TestReadersOfTheBareWriterLoop(t *testing.T) {
	const readers, events = 20, 50
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var pieces [][]byte
	var stream string
	for i := range events {
		frame := fmt.Sprintf("id: %d\nevent: x\ndata: {}\n\n", i)
		stream += frame
		pieces = append(pieces, ceiling.Chunk([]byte(frame)))
	}
	start, served := make(chan struct{}), make(chan error, 1)
	go func() { served <- ceiling.Write(t.Context(), ln, readers, pieces, start) }()

	var kept bytes.Buffer
	open, err := Open(t.Context(), ln.Addr().String(), readers, []byte("GET / HTTP/1.1\r\n\r\n"), EveryEvent, events, time.Now().Add(time.Minute), &kept)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if open.Seen() != 0 {
		t.Errorf("%d events arrived before the start", open.Seen())
	}
	close(start)
	if _, err := open.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if open.Seen() != events || kept.String() != stream {
		t.Errorf("saw %d events and kept %q", open.Seen(), kept.String())
	}
}

func TestOpenFailsWhenTheServerRefuses(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		if conn, err := ln.Accept(); err == nil {
			fmt.Fprint(conn, "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n")
		}
	}()
	_, err = Open(context.Background(), ln.Addr().String(), 1, []byte("GET / HTTP/1.1\r\n\r\n"), EveryEvent, 1, time.Now().Add(time.Minute), nil)
	if err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("the error is %v", err)
	}
}
