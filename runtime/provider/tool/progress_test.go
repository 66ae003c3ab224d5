package tool

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// hearing calls the tool that says how far it is, so often, and returns what was heard by the time of its answer.
func hearing(t *testing.T, tools *Tools, often int) (heard []abi.Progress, answer string) {
	t.Helper()
	request := fmt.Sprintf(`{"server":"s","name":"steps","arguments":{"size":%d}}`, often)
	plan, err := tools.Prepare(t.Context(), &provider.Call{Name: abi.CallToolCall, Plugin: "p", Request: []byte(request),
		Progress: func(p abi.Progress) { heard = append(heard, p) }})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := plan.Do(t.Context(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	var said abi.CallToolCallAnswer
	if err := json.Unmarshal(raw, &said); err != nil {
		t.Fatal(err)
	}
	return heard, said.Content[0].Text
}

// What a server says of a call before it answers is told before the answer, without secrets; it is not
// asked for when nobody listens.
func TestProgressOfATool(t *testing.T) {
	both(t, func(t *testing.T, tools *Tools) {
		s := tools.servers["s"].(*MCP)
		if _, err := s.expand(t.Context(), "{{secret:token}}"); err != nil {
			t.Fatal(err)
		}
		heard, answer := hearing(t, tools, 0)
		want := []abi.Progress{{Fraction: new(0.25), Message: "with {{secret:token}}"}, {}, {Fraction: new(1.0), Message: "done"}}
		if !reflect.DeepEqual(heard, want) || answer != "true" {
			t.Errorf("%+v, then %s", heard, answer)
		}
		quiet, err := call(t, tools, "s", "steps", "{}")
		if err != nil || quiet.Content[0].Text != "false" {
			t.Errorf("%+v, %v", quiet, err)
		}
	})
}

// A server that says more than is told is answered all the same, by this call and by the next.
func TestProgressWithoutEnd(t *testing.T) {
	both(t, func(t *testing.T, tools *Tools) {
		for range 2 {
			if heard, answer := hearing(t, tools, 3*maxUnasked); len(heard) < 3 || len(heard) > maxUnasked || answer != "true" {
				t.Errorf("%d are told", len(heard))
			}
		}
	})
}

// What is heard on a stream takes none of the room that answers have.
func TestProgressTakesNoRoom(t *testing.T) {
	s := testServer(t.Context())
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(h.Close)
	t.Cleanup(h.CloseClientConnections)
	small := overHTTP(t, h.URL, func(c *MCPConfig) { c.Budget = provider.NewBudget(200_000) })
	if _, answer := hearing(t, toolsOf(small), 3*maxUnasked); answer != "true" {
		t.Error(answer)
	}
}

// Of a call so much is told in a second, of a connection so much heard in a minute, and nothing of
// what is not under way.
func TestBoundsOfProgress(t *testing.T) {
	var p progress
	now := time.Unix(1_000_000, 0)
	told := 0
	token, end := p.begin(func(abi.Progress) { told++ })
	said := func(token string) jsontext.Value {
		return jsontext.Value(`{"progressToken":` + token + `,"progress":1}`)
	}
	mine := said(`"` + token + `"`)
	for range 5 * maxTold {
		if !p.take(now, mine) {
			t.Fatal("it is not heard")
		}
	}
	if told != maxTold {
		t.Errorf("%d are told in a second", told)
	}
	if p.take(now.Add(time.Second), mine); told != maxTold+1 {
		t.Error("the next second tells nothing")
	}
	for _, odd := range []jsontext.Value{said("1"), said(`"call-2"`), said("{}"), nil, jsontext.Value("[]"), jsontext.Value(`{"progressToken":"` + token + `","progress":1e999}`),
		jsontext.Value(`{"progressToken":"` + token + `","progress":1,"message":"` + strings.Repeat("x", maxUnaskedBytes) + `"}`)} {
		if p.take(now, odd) {
			t.Errorf("%.50s is heard", odd)
		}
	}
	heard := 0
	for range 2 * maxHeard {
		if p.take(now.Add(time.Hour), mine) {
			heard++
		}
	}
	if heard != maxHeard {
		t.Errorf("%d are heard in a minute", heard)
	}
	if end(); p.take(now.Add(2*time.Hour), mine) {
		t.Error("it is heard after its end")
	}
}
