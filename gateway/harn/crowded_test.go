package harn_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// allocated returns the bytes that f allocates, in the whole process.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// many returns n members of a list, or of an object.
func many(member string, n int, named bool) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if named {
			fmt.Fprintf(&b, `"%x":`, i)
		}
		b.WriteString(member)
	}
	return b.String()
}

// Every list of every request that the document describes has a maximum there. What
// goes beyond it is refused, and costs no more than what was sent.
func TestListsOfRequestsHaveMaxima(t *testing.T) {
	n := newNode(t)
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					} `json:"schema"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Type, Items, AdditionalProperties any
					MaxItems, MaxProperties           int
				}
			}
		} `json:"components"`
	}
	if err := json.Unmarshal(n.server.OpenAPI(), &doc, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	found := 0
	for path, methods := range doc.Paths {
		for method, op := range methods {
			request := strings.TrimPrefix(op.RequestBody.Content[gateway.MediaJSON].Schema.Ref, "#/components/schemas/")
			for name, p := range doc.Components.Schemas[request].Properties {
				most, named := p.MaxItems, p.MaxProperties > 0
				switch {
				case named:
					most = p.MaxProperties
				case p.Items == nil && p.AdditionalProperties == nil:
					continue
				}
				if found++; most == 0 {
					t.Errorf("%s: %s has no maximum", request, name)
					continue
				}
				for _, size := range []int{most + 1, 300_000} {
					open, end := "[", "]"
					if named {
						open, end = "{", "}"
					}
					body := `{"` + name + `":` + open + many(`{}`, size, named) + end + "}"
					cost := allocated(func() {
						a := n.do(t, strings.ToUpper(method), fill(path, map[string]string{}), body)
						if a.status != 413 && a.wantError(400, abi.CodeInvalidRequest).Param != name {
							t.Errorf("%s %s: %s", method, path, a.body)
						}
					})
					if limit := int64(8*len(body) + 1<<20); cost > limit {
						t.Errorf("%s %s: %s with %d members: %d bytes cost %d", method, path, name, size, len(body), cost)
					}
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("%d lists were found", found)
	}
}

// What a request nests is counted as well, on every way in.
func TestCrowdedRequests(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	for name, c := range map[string]struct {
		path, body, param string
		status            int
	}{
		"parts of a Message":         {"/v1/sessions/" + session + "/messages", `{"message":{"role":"user","parts":[` + many("{}", 1_000_000, false) + `]}}`, "message.parts", 400},
		"parts of an input":          {"/v1/sessions/" + session + "/tasks", `{"input":{"role":"user","parts":[` + many("{}", 100_000, false) + `]}}`, "input", 400},
		"parts of an input, at once": {"/v1/sessions/" + session + "/tasks", `{"input":{"role":"user","parts":[` + many("{}", 1_000_000, false) + `]}}`, "", 413},
		"first Messages":             {"/v1/sessions", `{"workspace_id":"ws_default","initial_messages":[` + many(`{"role":"user","parts":[]}`, 100_000, false) + `]}`, "initial_messages", 400},
		"parts of first Messages": {"/v1/sessions", `{"workspace_id":"ws_default","initial_messages":[` +
			many(`{"role":"user","parts":[`+many("{}", 1000, false)+`]}`, 1000, false) + `]}`, "", 413},
		"values":            {"/v1/sessions", `{"workspace_id":"ws_default","metadata":{"a":[` + many("1", 1_000_000, false) + `]}}`, "", 413},
		"unknown":           {"/v1/sessions", `{"workspace_id":"ws_default","x":[` + many("{}", 1_000_000, false) + `]}`, "", 413},
		"names":             {"/v1/sessions", `{"workspace_id":"ws_default","metadata":{` + many("1", 600_000, true) + `}}`, "", 413},
		"names of an input": {"/v1/sessions/" + session + "/tasks", `{"input":{` + many("1", 600_000, true) + `}}`, "", 413},
	} {
		t.Run(name, func(t *testing.T) {
			cost := allocated(func() {
				a := n.do(t, "POST", c.path, c.body)
				if a.status != c.status || !strings.Contains(string(a.body), `"param":"`+c.param) && c.param != "" {
					t.Errorf("%d %s", a.status, a.body)
				}
			})
			if cost > int64(8*len(c.body)) {
				t.Errorf("%d bytes cost %d", len(c.body), cost)
			}
		})
	}
}

// A plugin's host call costs what it is worth too, beside what a blob takes to be packed.
func TestCrowdedHostCalls(t *testing.T) {
	n := newNode(t)
	for call, request := range map[string]string{
		abi.CallMessageAppend: `{"role":"assistant","parts":[` + many("{}", 2_000_000, false) + `]}`,
		abi.CallPlan:          `{"steps":[` + many("{}", 2_000_000, false) + `]}`,
		abi.CallOutput:        `{"summary":"","metrics":{` + many("1", 500_000, true) + `}}`,
		abi.CallLLMComplete:   `{"messages":[` + many("{}", 2_000_000, false) + `]}`,
		abi.CallHTTPFetch:     `{"url":"","header":{` + many(`""`, 500_000, true) + `}}`,
		abi.CallStateSet:      `{"key":"k","value":[` + many("{}", 2_000_000, false) + `]}`,
		abi.CallTaskSpawn:     `{"persona_id":"persona_echo","input":{"a":[` + many("{}", 2_000_000, false) + `]}}`,
	} {
		t.Run(call, func(t *testing.T) {
			told := make(chan abi.CallStatus, 1)
			n.crowd = func(ctx context.Context, h sandbox.Host) error {
				status, _, err := h.Call(ctx, call, []byte(request))
				told <- status
				if err != nil {
					return err
				}
				return echo(ctx, h)
			}
			want := abi.CallInvalid
			if call == abi.CallPlan { // telemetry is dropped
				want = abi.CallOK
			}
			cost := allocated(func() {
				n.do(t, "POST", "/v1/sessions/"+n.session(t)+"/tasks", `{"persona_id":"persona_crowd","input":{}}`, header("Prefer", "wait=20")).want(200)
			})
			if got := <-told; got != want {
				t.Errorf("%d, want %d", got, want)
			}
			if cost > int64(8*len(request)+40<<20) {
				t.Errorf("%d bytes cost %d", len(request), cost)
			}
		})
	}
}
