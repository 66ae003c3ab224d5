package a2a

import (
	"context"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// Whatever an old message is, translating it into 1.0 and back neither fails nor changes it.
func FuzzOldMessages(f *testing.F) {
	for _, m := range []string{
		`{"messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"},{"kind":"data","data":{"a":1}},{"kind":"file","file":{"bytes":"AAEC","mimeType":"image/png","name":"n"}},{"kind":"file","file":{"uri":"https://x"}}]}`,
		`{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"},{"data":{"data":{"a":[1]}}},{"file":{"fileWithBytes":"AAEC"}}],"metadata":{}}`,
		`{"parts":[{"kind":"data","data":{"value":7},"metadata":{"data_part_compat":true}}]}`, `{"parts":[{"data":{"data":null}}]}`, `{"parts":[{}]}`,
	} {
		f.Add([]byte(m))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var old oldMessage
		if json.Unmarshal(text, &old) != nil {
			return
		}
		m, err := old.words()
		if err != nil || m.check() != nil {
			return
		}
		for _, d := range []dialect{{old: true, rpc: true}, {old: true}} {
			written, err := json.Marshal(d.message(m), jsontext.AllowInvalidUTF8(true))
			if err != nil {
				t.Fatal(err)
			}
			var again oldMessage
			if err := json.Unmarshal(written, &again); err != nil {
				t.Fatalf("%v: %s", err, written)
			}
			back, err := again.words()
			if err != nil || back.check() != nil {
				t.Fatalf("%v, %v: %s", err, back.check(), written)
			}
			if len(back.Parts) != len(m.Parts) {
				t.Fatalf("%d parts have become %d", len(m.Parts), len(back.Parts))
			}
			for i := range m.Parts {
				if got, want := same(&back.Parts[i]), same(&m.Parts[i]); got != want {
					t.Errorf("part %d: %s has become %s", i, want, got)
				}
			}
		}
	})
}

// same is what a part holds, in one form.
func same(p *part) string {
	text, _ := json.Marshal(part{Text: p.Text, Raw: p.Raw, URL: p.URL, Data: p.Data}, json.Deterministic(true))
	_ = (*jsontext.Value)(&text).Canonicalize()
	return string(text)
}

// Whatever comes by JSON-RPC is read or refused, and what is refused has a code and the id.
func FuzzRequests(f *testing.F) {
	for _, text := range []string{`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{}}}`, `[]`, `{`, `{"jsonrpc":"2.0","id":{},"method":""}`, "{\"id\":\"\xff\"}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		req, wrong := jsonrpc.ReadRequest(text)
		if wrong == nil {
			return
		}
		answer := shape(gateway.Refused{ID: "req_1", Operation: operationRPC, Call: req.ID}, refuse(reasonOfRPC(wrong.Code), "%s", wrong.Message))
		var got rpcFailure
		if err := json.Unmarshal(answer.Body, &got); err != nil || got.Error.Code >= 0 || got.Version != "2.0" || got.ID == nil {
			t.Errorf("%v: %s", err, answer.Body)
		}
	})
}

// Whatever a page token is, it is read as one that the list has written, or refused.
func FuzzPageTokens(f *testing.F) {
	l := &listing{mark: markOf(&listParams{})}
	f.Add(l.token("task_1"))
	f.Add("x")
	f.Fuzz(func(t *testing.T, token string) {
		after, err := l.read(token)
		if err == nil && !abi.ValidID(abi.ObjectTask, after) {
			t.Errorf("%q is read as %q", token, after)
		}
	})
}

// Whatever an event is, telling it neither fails nor panics without a node behind it.
func FuzzTold(f *testing.F) {
	f.Add("vendor.wharf.progress", []byte(`{"id":"1","task_id":"task_1","payload":{"message":"x","fraction":0.5}}`))
	f.Add("vendor.wharf.plan", []byte(`{"payload":{"steps":[{"title":"a","status":"skipped"}]}}`))
	f.Add("vendor.wharf.worker", []byte(`{"payload":{"worker_id":"task_2","event":"WorkerStopped","terminal":true,"metadata":{"handoff":{"a":1}},"audit":{"run_id":"task_2"}}}`))
	f.Add("agent.message", []byte(`{"payload":{"message":{"role":"agent","parts":[{"type":"text","text":"x"}]}}}`))
	f.Fuzz(func(t *testing.T, kind string, text []byte) {
		k := abi.EventKind(kind)
		switch k {
		case abi.EventArtifactCreated, abi.EventOutcomeCreated:
			return // which are read
		}
		v := &viewer{base: "http://x", get: nothing}
		u, err := v.tell(t.Context(), k, text, "c")
		if err != nil || u == nil {
			return
		}
		for n := range dialects {
			d := dialect{n&1 != 0, n&2 != 0, n&4 != 0}
			out, err := u.encode(d)
			if err != nil || !jsontext.Value(out).IsValid(jsontext.AllowInvalidUTF8(true)) {
				t.Errorf("%v: %v, %s", d, err, out)
			}
		}
	})
}

func nothing(_ context.Context, o abi.Object, id string) (jsontext.Value, error) {
	return nil, abi.NotFound(o, id)
}
