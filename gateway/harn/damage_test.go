package harn_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// damages are what may happen to a file: nil removes it.
var damages = map[string]func([]byte) []byte{
	"removed": nil,
	"emptied": func([]byte) []byte { return nil },
	"cut":     func(b []byte) []byte { return b[:len(b)/2] },
	"longer":  func(b []byte) []byte { return append(b, 0) },
	"changed": func(b []byte) []byte { b[len(b)/3] ^= 1; return b },
}

// Content that is not what was stored is never an answer that ends well. What is small
// is an error that names the Artifact; what is large breaks off. The log names the file,
// and storing the same content again heals it.
func TestDamagedContentIsNotServed(t *testing.T) {
	for name, damage := range damages {
		for kind, size := range map[string]int{"tiny": 3, "small": 20_000, "large": 3 << 20} {
			t.Run(name+" "+kind, func(t *testing.T) {
				n := newNode(t)
				body := bytes.Repeat([]byte("abc"), (size+2)/3)
				id := n.upload(t, "", body).want(201).id()
				n.do(t, "GET", content(id), nil, header("Range", "bytes=0-1")).want(206)
				if err := n.Disk.Damage(n.Disk.Blob(sum(body)), damage); err != nil {
					t.Fatal(err)
				}
				n.mustNotServe(t, id)
				n.upload(t, "", body).want(201)
				if got := n.do(t, "GET", content(id), nil).want(200); !bytes.Equal(got.body, body) {
					t.Error("storing the content again did not heal it")
				}
			})
		}
	}
}

func (n *node) mustNotServe(t *testing.T, id string) {
	t.Helper()
	for _, partly := range []string{"", "bytes=0-1"} {
		r := n.request(t, "GET", content(id), nil, header("Range", partly))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			continue // broken off before anything was sent
		}
		got, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		switch {
		case err != nil && answer.StatusCode < 400: // broken off
		case answer.StatusCode == 500 && strings.Contains(string(got), id) && strings.Contains(string(got), string(abi.CodeInternalError)):
			if cached := answer.Header.Get("Cache-Control"); strings.Contains(cached, "immutable") {
				t.Errorf("an error may be cached: %q", cached)
			}
		default:
			t.Errorf("range %q: status %d, %d bytes, %v: %.200q", partly, answer.StatusCode, len(got), err, got)
		}
	}
	if log := n.logged.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "/data/blobs/") {
		t.Errorf("the log does not name the file: %q", log)
	}
}

// RFC 9110, 13.1.2: tags are compared weakly, and a list or * will do.
func TestIfNoneMatch(t *testing.T) {
	n := newNode(t)
	body := []byte("0123456789")
	id := n.upload(t, "", body).want(201).id()
	etag := `"` + sum(body) + `"`
	for value, want := range map[string]int{
		etag: 304, "W/" + etag: 304, "*": 304, " * ": 304, `"x", ` + etag: 304, `W/"a,b",W/` + etag + `, "y"`: 304, `"x",, ` + etag: 304,
		`"x"`: 200, strings.Trim(etag, `"`): 200, `"x`: 200, `x"` + etag: 200, "": 200, `W/`: 200, `"x*"`: 200,
	} {
		a := n.do(t, "GET", content(id), nil, header("If-None-Match", value)).want(want)
		if a.header.Get("ETag") != etag {
			t.Errorf("%q: ETag %q", value, a.header.Get("ETag"))
		}
	}
	two := func(r *http.Request) { r.Header["If-None-Match"] = []string{`"x"`, etag} }
	n.do(t, "GET", content(id), nil, two).want(304)
}
