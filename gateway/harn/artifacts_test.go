package harn_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

func sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}

// upload sends content as it is.
func (n *node) upload(t testing.TB, query string, content []byte, options ...func(*http.Request)) *answer {
	t.Helper()
	return n.do(t, "POST", "/v1/artifacts?"+query, content, append([]func(*http.Request){header("Content-Type", "text/plain; charset=utf-8")}, options...)...)
}

func content(id string) string { return "/v1/artifacts/" + id + "/content" }

func TestArtifactsByReference(t *testing.T) {
	n := newNode(t)
	a := n.do(t, "POST", "/v1/artifacts", object{
		"kind": "dataset", "mime_type": "text/csv", "visibility": "public", "uri": "https://example.org/x.csv", "sha256": strings.Repeat("A", 64),
	}).want(201)
	if a.get("sha256") != strings.Repeat("a", 64) {
		t.Errorf("%s", a.body)
	}
	err := n.do(t, "GET", content(a.id()), nil).wantError(404, abi.CodeResourceNotFound)
	if !strings.Contains(string(err.Details), "https://example.org/x.csv") {
		t.Errorf("details %s", err.Details)
	}
}

// Content comes back as it was sent, whichever way it was sent.
func TestUploads(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	large := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
	for name, body := range map[string][]byte{"empty": {}, "small": []byte("hi"), "large": large} {
		t.Run(name, func(t *testing.T) {
			var form bytes.Buffer
			w := multipart.NewWriter(&form)
			_ = w.WriteField("kind", "log")
			_ = w.WriteField("session_id", session)
			part, _ := w.CreatePart(textproto.MIMEHeader{
				"Content-Disposition": {`form-data; name="file"; filename="ü.log"`}, "Content-Type": {"text/x-log"}})
			_, _ = part.Write(body)
			_ = w.Close()
			for way, a := range map[string]*answer{
				"raw":     n.upload(t, "kind=log&session_id="+session+"&name=%C3%BC.log&mime_type=text/x-log&sha256="+sum(body), body),
				"chunked": n.send(t, chunked(n.request(t, "POST", "/v1/artifacts?kind=log&session_id="+session+"&name=%C3%BC.log", body, header("Content-Type", "text/x-log")))),
				"form":    n.do(t, "POST", "/v1/artifacts", form.Bytes(), header("Content-Type", w.FormDataContentType())),
				"JSON": n.do(t, "POST", "/v1/artifacts", object{
					"kind": "log", "session_id": session, "name": "ü.log", "mime_type": "text/x-log", "visibility": "public", "content": body}),
			} {
				a.want(201)
				if a.get("kind") != "log" || a.get("mime_type") != "text/x-log" || a.get("session_id") != session || a.get("name") != "ü.log" ||
					a.get("sha256") != sum(body) || a.get("size_bytes") != float64(len(body)) {
					t.Errorf("%s: %s", way, a.body)
				}
				got := n.do(t, "GET", a.get("uri").(string), nil).want(200)
				if !bytes.Equal(got.body, body) {
					t.Errorf("%s: %d bytes come back, want %d", way, len(got.body), len(body))
				}
				if got.header.Get("Content-Disposition") != "attachment; filename*=utf-8''%C3%BC.log" || got.header.Get("X-Content-Type-Options") != "nosniff" ||
					got.header.Get("Content-Type") != "text/x-log" || got.header.Get("ETag") != `"`+sum(body)+`"` {
					t.Errorf("%s: %v", way, got.header)
				}
			}
		})
	}
}

func TestBadUploads(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.UploadLimit = 50_000 })
	if err := n.upload(t, "sha256="+strings.Repeat("0", 64), []byte("hi")).wantError(400, abi.CodeInvalidRequest); err.Param != "sha256" {
		t.Errorf("param %q", err.Param)
	}
	n.upload(t, "kind=thing", []byte("hi")).wantError(400, abi.CodeInvalidRequest)
	n.upload(t, "visibility=secret", []byte("hi")).wantError(400, abi.CodeInvalidRequest)
	n.upload(t, "session_id=sess_none", []byte("hi")).wantError(404, abi.CodeResourceNotFound)
	n.upload(t, "", []byte("hi"), header("Content-Type", "///")).wantError(400, abi.CodeInvalidRequest)
	large := make([]byte, 50_001)
	n.upload(t, "", large).wantError(413, abi.CodePayloadTooLarge)
	n.send(t, chunked(n.request(t, "POST", "/v1/artifacts", large, header("Content-Type", "a/b")))).wantError(413, abi.CodePayloadTooLarge)
	n.upload(t, "", large[1:]).want(201)
	form := header("Content-Type", "multipart/form-data; boundary=b")
	for name, body := range map[string]string{
		"no file":  "--b\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\nlog\r\n--b--\r\n",
		"no form":  "hello",
		"cut":      "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\nxy",
		"no parts": "--b--\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			n.do(t, "POST", "/v1/artifacts", body, form).wantError(400, abi.CodeInvalidRequest)
		})
	}
	if ids := n.do(t, "GET", "/v1/artifacts", nil).ids(); len(ids) != 1 {
		t.Errorf("%d artifacts after failed uploads, want 1", len(ids))
	}
}

func TestUploadIsIdempotent(t *testing.T) {
	n := newNode(t)
	once := header("Idempotency-Key", "u-1")
	first := n.upload(t, "name=a", []byte("hello"), once).want(201)
	again := n.upload(t, "name=a", []byte("hello"), once).want(201)
	if again.id() != first.id() || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s, then %s", first.body, again.body)
	}
	n.upload(t, "name=a", []byte("other"), once).wantError(409, abi.CodeIdempotencyKeyReused)
	n.upload(t, "name=b", []byte("hello"), once).wantError(409, abi.CodeIdempotencyKeyReused)
}

func TestRanges(t *testing.T) {
	n := newNode(t)
	body := []byte("0123456789")
	id := n.upload(t, "", body).want(201).id()
	etag := `"` + sum(body) + `"`
	for _, c := range []struct {
		want, contentRange string
		options            []func(*http.Request)
	}{
		{"0123456789", "", nil},
		{"23", "bytes 2-3/10", []func(*http.Request){header("Range", "bytes=2-3")}},
		{"789", "bytes 7-9/10", []func(*http.Request){header("Range", "bytes=7-")}},
		{"89", "bytes 8-9/10", []func(*http.Request){header("Range", "bytes=-2")}},
		{"0123456789", "bytes 0-9/10", []func(*http.Request){header("Range", "bytes=-99")}},
		{"9", "bytes 9-9/10", []func(*http.Request){header("Range", "bytes=9-99999999999")}},
		{"01", "bytes 0-1/10", []func(*http.Request){header("Range", "bytes=0-1"), header("If-Range", etag)}},
		{"0123456789", "", []func(*http.Request){header("Range", "bytes=0-1"), header("If-Range", `"other"`)}},
		{"0123456789", "", []func(*http.Request){header("Range", "bytes=0-1,4-5")}},
		{"0123456789", "", []func(*http.Request){header("Range", "bytes=3-2")}},
		{"0123456789", "", []func(*http.Request){header("Range", "bytes=x-")}},
		{"0123456789", "", []func(*http.Request){header("Range", "bytes=--1")}},
		{"0123456789", "", []func(*http.Request){header("Range", "bytes=+1-2")}},
		{"0123456789", "", []func(*http.Request){header("Range", "lines=1-2")}},
	} {
		status := 200
		if c.contentRange != "" {
			status = 206
		}
		a := n.do(t, "GET", content(id), nil, c.options...).want(status)
		if string(a.body) != c.want || a.header.Get("Content-Range") != c.contentRange {
			t.Errorf("%q %q, want %q %q", a.body, a.header.Get("Content-Range"), c.want, c.contentRange)
		}
		head := n.do(t, "HEAD", content(id), nil, c.options...).want(status)
		if head.header.Get("Content-Length") != fmt.Sprint(len(c.want)) {
			t.Errorf("HEAD: Content-Length %q, want %d", head.header.Get("Content-Length"), len(c.want))
		}
	}
	for _, outside := range []string{"bytes=10-", "bytes=99-100", "bytes=-0"} {
		a := n.do(t, "GET", content(id), nil, header("Range", outside))
		if a.wantError(416, abi.CodeInvalidRequest); a.header.Get("Content-Range") != "bytes */10" {
			t.Errorf("%s: %q", outside, a.header.Get("Content-Range"))
		}
	}
	n.do(t, "GET", content(id), nil, header("If-None-Match", etag)).want(304)
}

func TestContentThatIsNotPublic(t *testing.T) {
	n := newNode(t)
	plain := key(n.newKey(t, "", abi.DefaultScopes()...))
	internal := n.upload(t, "visibility=internal", []byte("x")).want(201).id()
	n.do(t, "GET", content(internal), nil).want(200)
	n.do(t, "GET", content(internal), nil, plain).wantError(403, abi.CodePermissionDenied)
	sealed := n.upload(t, "visibility=receipt_only", []byte("x")).want(201).id()
	n.do(t, "GET", content(sealed), nil).wantError(403, abi.CodePermissionDenied)
}

// A media type is shown to browsers only when it is one.
func TestOddMediaTypes(t *testing.T) {
	n := newNode(t)
	for given, want := range map[string]string{"text/html": "text/html", "nonsense; ;": "application/octet-stream", "a/b; c=d": "a/b; c=d"} {
		a := n.do(t, "POST", "/v1/artifacts", object{"kind": "file", "mime_type": given, "visibility": "public", "content": "aGk="}).want(201)
		got := n.do(t, "GET", content(a.id()), nil).want(200)
		if got.header.Get("Content-Type") != want || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") ||
			got.header.Get("Content-Security-Policy") == "" {
			t.Errorf("%q: %v", given, got.header)
		}
	}
}
