package harn_test

import (
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// benchRequests sends the same request over and over, on several connections.
func benchRequests(b *testing.B, n *node, method, path, body string, status int) {
	client := &fasthttp.HostClient{Addr: n.addr, MaxConns: 64}
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		req.Header.SetMethod(method)
		req.SetRequestURI(n.url + path)
		req.Header.Set("Authorization", "Bearer "+enginetest.RootKey)
		req.Header.Set(abi.VersionHeader, abi.ProtocolVersion)
		req.Header.SetContentType("application/json")
		req.SetBodyString(body)
		for pb.Next() {
			if err := client.Do(req, resp); err != nil || resp.StatusCode() != status {
				b.Errorf("%d %v", resp.StatusCode(), err)
				return
			}
		}
	})
}

// The floor: routing, request id, metrics, and nothing else.
func BenchmarkHealth(b *testing.B) {
	benchRequests(b, newNode(b), "GET", "/healthz", "", 200)
}

func BenchmarkGetTask(b *testing.B) {
	n := newNode(b)
	task := n.finished(b, n.session(b))
	benchRequests(b, n, "GET", "/v1/tasks/"+task, "", 200)
}

// Decoding and refusing a Task: what the gateway adds to accepting one.
func BenchmarkRefuseTask(b *testing.B) {
	body := `{"session_id":"sess_none","input":{"role":"user","parts":[{"type":"text","text":"Summarise the incident report of last night and list what to do first."}]},"metadata":{"source":"bench"}}`
	benchRequests(b, newNode(b), "POST", "/v1/tasks", body, 404)
}
