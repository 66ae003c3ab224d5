package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// calling runs a plugin that makes host calls, and returns the Task.
func calling(t *testing.T, plugin func(ctx context.Context, h sandbox.Host)) (*node, abi.Task) {
	t.Helper()
	n := newNode(t, enginetest.Guests{"call": func(ctx context.Context, h sandbox.Host) error { plugin(ctx, h); return nil }})
	return n, n.Wait(t, n.Submit(t, n.Session(t), "persona_call"))
}

func TestHostCallsRefuseBadRequests(t *testing.T) {
	const message = `{"role":"assistant","parts":[]}`
	tests := []struct {
		call, request string
		want          abi.CallStatus
	}{
		{abi.CallMessageAppend, ``, abi.CallInvalid},
		{abi.CallMessageAppend, `{"role":"king","parts":[]}`, abi.CallInvalid},
		{abi.CallMessageAppend, `{"role":"user","parts":[{"type":"poem"}]}`, abi.CallInvalid},
		{abi.CallMessageAppend, `{"role":"user","role":"user","parts":[]}`, abi.CallInvalid},
		{abi.CallMessageAppend, "{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"\xff\"}]}", abi.CallInvalid},
		{abi.CallMessageAppend, strings.Repeat("[", 20_000), abi.CallInvalid},
		{abi.CallMessageAppend, message, abi.CallOK},
		{abi.CallLog, `{"level":"loud","message":"x"}`, abi.CallInvalid},
		{abi.CallLog, `{"level":"info","message":"x"}`, abi.CallOK},
		{abi.CallProgress, `{"fraction":1.5}`, abi.CallInvalid},
		{abi.CallProgress, `{"fraction":"half"}`, abi.CallInvalid},
		{abi.CallProgress, `{"fraction":0.5}`, abi.CallOK},
		{abi.CallAgentEvent, `{"kind":"turn_started","data":{"iteration":1}}`, abi.CallOK},
		{abi.CallAgentEvent, `{"kind":"turn_started","data":{"secret":1}}`, abi.CallInvalid},
		{abi.CallRandom, `4`, abi.CallInvalid},
		{abi.CallRandom, "\xff\xff\xff\xff", abi.CallTooLarge},
		{abi.CallRandom, "\x04\x00\x00\x00", abi.CallOK},
		{abi.CallClock, ``, abi.CallOK},
		{abi.CallArtifactPut, `{"kind":"file"}`, abi.CallInvalid},
		{abi.CallArtifactPut, "{\"kind\":\"spell\",\"mime_type\":\"text/plain\"}\nx", abi.CallInvalid},
		{abi.CallArtifactPut, "{\"kind\":\"file\"}\nx", abi.CallInvalid},
		{abi.CallArtifactGet, `{"artifact_id":"art_none"}`, abi.CallNotFound},
		{abi.CallArtifactGet, `{"artifact_id":"../../etc/passwd"}`, abi.CallNotFound},
		{abi.CallArtifactGet, `{"artifact_id":"x","offset":-1}`, abi.CallInvalid},
		{abi.CallOutput, `[]`, abi.CallInvalid},
		{abi.CallOutput, `{"summary":"done"}`, abi.CallOK},
		{abi.CallOutput, `{"summary":"again"}`, abi.CallInvalid},
	}
	_, task := calling(t, func(ctx context.Context, h sandbox.Host) {
		for _, test := range tests {
			status, answer, _ := h.Call(ctx, test.call, []byte(test.request))
			if status != test.want {
				t.Errorf("%s %.60q: status %d (%s), want %d", test.call, test.request, status, answer, test.want)
			}
			var e abi.CallError
			if status != abi.CallOK && (json.Unmarshal(answer, &e) != nil || e.Code == "" || e.Message == "") {
				t.Errorf("%s %.60q: the refusal does not say why: %s", test.call, test.request, answer)
			}
		}
	})
	if task.Status != abi.TaskCompleted {
		t.Errorf("%s %+v", task.Status, task.Failure)
	}
}

func TestArtifactsOfATask(t *testing.T) {
	content := strings.Repeat("0123456789", 1000)
	n, task := calling(t, func(ctx context.Context, h sandbox.Host) {
		_, answer, _ := h.Call(ctx, abi.CallArtifactPut, []byte("{\"kind\":\"file\",\"mime_type\":\"text/plain\",\"name\":\"a.txt\"}\n"+content))
		var put struct {
			ID string `json:"artifact_id"`
		}
		if err := json.Unmarshal(answer, &put); err != nil {
			t.Fatal(err)
		}
		for _, r := range []struct{ offset, length int64 }{{0, 0}, {5, 10}, {9_995, 100}, {20_000, 5}} {
			status, got, _ := h.Call(ctx, abi.CallArtifactGet, fmt.Appendf(nil, `{"artifact_id":%q,"offset":%d,"length":%d}`, put.ID, r.offset, r.length))
			from := min(r.offset, int64(len(content)))
			to := int64(len(content))
			if r.length > 0 {
				to = min(from+r.length, to)
			}
			if status != abi.CallOK || string(got) != content[from:to] {
				t.Errorf("%v: status %d, %d bytes, want %d", r, status, len(got), to-from)
			}
		}
	})
	list, err := n.List(t.Context(), n.Root, abi.ObjectArtifact, desk.Filter{TaskID: task.ID}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 {
		t.Fatalf("%d artifacts, %v", len(list.Docs), err)
	}
	a := enginetest.As[abi.Artifact](t, list.Docs[0])
	if a.Name != "a.txt" || *a.SizeBytes != int64(len(content)) || a.SessionID != task.SessionID {
		t.Errorf("%+v", a)
	}
	_, blob, err := n.OpenArtifact(t.Context(), n.Root, a.ID)
	if err != nil || blob == nil || blob.Size() != int64(len(content)) {
		t.Fatal(err)
	}
	_ = blob.Close()
}

// A client that states another's hash gets no bytes by it.
func TestStatedHashGivesNoContent(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	doc, err := n.RegisterArtifact(t.Context(), n.Root, nil, abi.RegisterArtifactRequest{
		Kind: abi.ArtifactFile, MimeType: "text/plain", Visibility: abi.VisibilityPublic}, strings.NewReader("secret"))
	if err != nil {
		t.Fatal(err)
	}
	other, _ := n.newKey(t, abi.CreateKeyRequest{Name: "x", Tenant: "acme"})
	hash := enginetest.As[abi.Artifact](t, doc).SHA256
	claim, err := n.RegisterArtifact(t.Context(), other, nil, abi.RegisterArtifactRequest{
		Kind: abi.ArtifactFile, MimeType: "text/plain", Visibility: abi.VisibilityPublic, SHA256: hash}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, blob, err := n.OpenArtifact(t.Context(), other, claim.ID); err != nil || blob != nil {
		t.Errorf("stating a hash opened the bytes: %v %v", blob, err)
	}
	wrong := strings.Repeat("0", 64)
	_, err = n.RegisterArtifact(t.Context(), other, nil, abi.RegisterArtifactRequest{
		Kind: abi.ArtifactFile, MimeType: "text/plain", Visibility: abi.VisibilityPublic, SHA256: &wrong}, strings.NewReader("x"))
	if enginetest.WantCode(t, err, abi.CodeInvalidRequest).Param != "sha256" {
		t.Error("the error does not name sha256")
	}
}

// A plugin's hints are in the stream in order, and bounded.
func TestHintsAreBounded(t *testing.T) {
	n, task := calling(t, func(ctx context.Context, h sandbox.Host) {
		for range engine.MaxHints + 100 {
			if status, _, _ := h.Call(ctx, abi.CallLog, []byte(`{"level":"info","message":"x"}`)); status != abi.CallOK {
				t.Fatal("a log line was refused")
			}
		}
	})
	hints, after := 0, desk.Position(0)
	next := uint64(0)
	for more := true; more; {
		var events []desk.Event
		var err error
		events, more, err = n.Events(t.Context(), n.Root, desk.Filter{TaskID: task.ID}, after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			after = ev.Position()
			rec := ev.Record()
			if rec.Hint {
				hints++
			}
			if rec.Resource.Object == abi.ObjectTask {
				if rec.Sequence != next {
					t.Fatalf("sequence %d, want %d", rec.Sequence, next)
				}
				next++
			}
		}
	}
	if hints != engine.MaxHints {
		t.Errorf("%d hints, want %d", hints, engine.MaxHints)
	}
}
