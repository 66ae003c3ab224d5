package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// everything is a plugin that makes each host call once, through the SDK.
const everything = `package main

import (
	"encoding/json"
	"errors"
	"time"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

//go:wasmexport run
func run() int32 { return wharf.Run(handle) }

func main() {}

func handle(*wharf.Task) (wharf.Result, error) {
	object := json.RawMessage("{\"a\":1}")
	var value any
	return wharf.Result{Summary: "done", Metrics: map[string]float64{"n": 1}}, errors.Join(
		second(wharf.NowAs("begin")), wharf.Random(make([]byte, 3)), second(wharf.NewID()), wharf.Sleep(time.Second),
		wharf.Log(wharf.LevelInfo, "hi"), wharf.Progress(0.5, "half"), wharf.SetPlan(wharf.PlanStep{Title: "a", Status: "pending"}),
		wharf.Tell(wharf.TurnStarted, wharf.Turn{Iteration: 1}),
		second(wharf.Compose(wharf.Snippet{Name: "n", Language: "l", SnippetHash: "s", ManifestHash: "m", Ceiling: wharf.ReadOnly}, func(c *wharf.Composition) (wharf.CompositionResult, error) {
			_, err := c.CallTool(wharf.ToolRequest{Server: "s", Name: "n"})
			return wharf.CompositionResult{Stdout: "o", Stderr: "e", Artifacts: []string{"art_1"}, Result: object, FailureCategory: wharf.ToolFailed, Message: "m"}, err
		})),
		second(wharf.ReplacePlan(2, wharf.Step{ID: "a", Content: "b", Status: "pending"})), second(wharf.CurrentPlan()), second(wharf.InboxTake(wharf.AtStep)), second(wharf.InboxWait(wharf.AtTurn, time.Second)),
		second(wharf.Reply("hi")), wharf.Delta("h"), third(wharf.Transcript(3)),
		second(wharf.Complete(wharf.ModelRequest{CallID: "main:1", Model: "m", System: "s", ToolChoice: "auto", MaxTokens: 1, Stop: []string{"."}, Stream: true,
			Messages: []wharf.ModelMessage{{Role: "assistant", Text: "t", ToolCalls: []wharf.ModelToolCall{{ID: "c", Name: "n", Arguments: object}}}, {Role: "tool", ToolCallID: "c", IsError: true}},
			Tools: []wharf.ModelTool{{Name: "n", Description: "d", InputSchema: object}}})),
		second(wharf.ListTools("s")), second(wharf.CallTool(wharf.ToolRequest{CallID: "c", Server: "s", Name: "n", Arguments: object})),
		second(wharf.ListResources("s")), second(wharf.ListResourceTemplates("s")), second(wharf.ListPrompts("s")),
		second(wharf.ReadResource(wharf.ResourceRequest{CallID: "c", Server: "s", URI: "file:///a"})),
		second(wharf.GetPrompt(wharf.PromptRequest{CallID: "c", Server: "s", Name: "n", Arguments: map[string]string{"a": "b"}})),
		second(wharf.Fetch(wharf.FetchRequest{CallID: "c", Method: "POST", URL: "https://x", Header: map[string]string{"a": "b"}, Body: []byte{1}, Purpose: "p", IdempotencyHeader: "Idempotency-Key", TimeoutMS: 5})),
		second(wharf.UseSecret("s")),
		second(wharf.QueryMemory(wharf.MemoryQuery{CallID: "c", Scope: wharf.ScopeSession, Text: "t", Limit: 3})),
		second(wharf.Remember(wharf.NewMemory{Scope: wharf.ScopeTenant, Content: "c", ExpiresInSeconds: 1, Visibility: "internal", Confidence: 0.5, Metadata: object})),
		second(wharf.CurrentBlocks()), second(wharf.WriteBlock(wharf.BlockWrite{Label: "l", Value: "v", Append: true, Version: new(int64)})),
		second(wharf.PutArtifact(wharf.Artifact{Kind: "file", MimeType: "text/plain", Name: "n", Visibility: "public"}, []byte("x"))),
		second(wharf.ReadArtifact("art_1", 1, 2)),
		second(wharf.ReadFileRange(wharf.ReadFileRequest{CallID: "c", Path: "p", Offset: 1, Length: 2})), wharf.RemoveFile("p", "s"),
		second(wharf.EditFile(wharf.EditFileRequest{Path: "p", Old: "o", New: "n", All: true})), second(wharf.ReadSkill(wharf.SkillRequest{Skill: "s", Path: "p"})),
		second(wharf.MatchSkills(wharf.SkillMatchRequest{CallID: "c", Prompt: "p", WorkingFiles: []string{"f"}, Strategy: "host",
			Candidates: []wharf.SkillCandidate{{Name: "n", Description: "d", WhenToUse: "w", Paths: []string{"p"}}}})),
		second(wharf.WriteFileAs(wharf.WriteFileRequest{Path: "p", Body: []byte{1}, Mode: wharf.FileAppend, SHA256: "s"})),
		second(wharf.ListFiles(wharf.ListFilesRequest{CallID: "c", Path: "p", Recursive: true, After: "a", Limit: 3})),
		second(wharf.SearchFiles(wharf.SearchFilesRequest{CallID: "c", Path: "p", Glob: "*", Text: "t", Pattern: "p", IgnoreCase: true, After: "a", Limit: 3})),
		second(wharf.State("k").Get(&value)), wharf.State("k").Set(object),
		second(wharf.RequestInput(wharf.InputRequest{CallID: "c", Prompt: "p", Schema: object, Timeout: time.Minute})),
		second(wharf.RequestAuth(wharf.AuthRequest{CallID: "c", Provider: "p", Prompt: "p", URL: "https://x", Timeout: time.Minute})),
		second(wharf.RequestApproval(wharf.ApprovalRequest{CallID: "c", Action: "a", Prompt: "p", Arguments: object, Timeout: time.Minute})),
		second(wharf.Spawn(wharf.SpawnRequest{PersonaID: "p", Input: object, Metadata: object, DeadlineSeconds: 1})),
		second(wharf.Await("task_1", time.Second)), second(wharf.Handoff(wharf.HandoffRequest{PersonaID: "p", Input: object, Reason: "r"})),
		second(wharf.Delegate(wharf.DelegationRequest{CallID: "c", Agent: "a", Task: "t", ExpectedScope: object, Context: object,
			Budget: wharf.DelegationBudget{USD: 1, Tokens: 1, Seconds: 1, ToolCalls: 1}, IdempotencyKey: "k",
			Checkpoint: &wharf.DelegationCheckpoint{Approved: true, CheckpointID: "c", AllowLocalFallback: true, Plan: json.RawMessage("{}")}})),
		wharf.Emit("vendor.x.y", object), second(wharf.Config("n", &value)), second(wharf.Fact("os")),
		second(wharf.Deliver(wharf.Found{ID: "i", Header: map[string]string{"a": "b"}, Text: "t"}, wharf.Found{ID: "j", Body: []byte{1}})),
		normalize(),
	)
}

func normalize() error {
	if wharf.Normalize(prepare) != 0 {
		return errors.New("normalizing")
	}
	return nil
}

func prepare(*wharf.Connector) (wharf.Normalizer, error) {
	return func(d *wharf.Delivery) (wharf.Normalized, error) {
		m := wharf.Message{Role: "user", Parts: []wharf.Part{wharf.TextPart(d.Text)}}
		return wharf.Normalized{Ignored: "i", Tasks: []wharf.ConnectorTask{{Message: &m, PersonaID: "p", Thread: "t", OrderKey: "o", Metadata: json.RawMessage("{}")}},
			Messages: []wharf.ConnectorMessage{{Message: m, Thread: "t"}}, Events: []wharf.ConnectorEvent{{Kind: "vendor.x", Payload: json.RawMessage("{}")}}}, nil
	}, nil
}

func second[T any](_ T, err error) error     { return err }
func third[T, U any](_ T, _ U, err error) error { return err }
`

// small is a plugin that makes two host calls of its own.
const small = `package main

import wharf "github.com/wharf-dev/wharf/sdk/go"

//go:wasmexport run
func run() int32 {
	return wharf.Run(func(*wharf.Task) (wharf.Result, error) {
		id, err := wharf.NewID()
		return wharf.Result{Summary: id}, err
	})
}

func main() {}
`

// buildWithSDK builds a Go plugin of one or more sources with the SDK of this tree.
func buildWithSDK(t *testing.T, sources ...string) []byte {
	t.Helper()
	sdk, err := filepath.Abs("../../sdk/go")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"go.mod": "module guest\n\ngo 1.26.0\n\n" +
		"require github.com/wharf-dev/wharf/sdk/go v0.0.0\n\nreplace github.com/wharf-dev/wharf/sdk/go => " + sdk + "\n"}
	for i, source := range sources {
		files[fmt.Sprintf("source%d.go", i)] = source
	}
	return buildModule(t, files)
}

// buildModule builds the Go module of the given files.
func buildModule(t *testing.T, files map[string]string) []byte {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("skipped: go is not installed")
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-o", "out.wasm", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	wasm, err := os.ReadFile(filepath.Join(dir, "out.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// TestSDKSpeaksTheABI holds that the SDK makes every host call, that its requests
// have no member that the definition does not know, and that it can read what the
// definition answers.
func TestSDKSpeaksTheABI(t *testing.T) {
	m := compile(t, newRuntime(t, Config{CacheDir: cacheDir}), buildWithSDK(t, everything))
	made := map[string]bool{}
	h := &host{answer: func(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
		made[call] = true
		def, _ := abi.LookupHostCall(call)
		return checkedAnswer(t, def, request)
	}}
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	for _, def := range abi.HostCalls() {
		if !made[def.Name] || !slices.Contains(m.Imports(), def.Name) {
			t.Errorf("the SDK does not make the call %s", def.Name)
		}
	}
}

// checkedAnswer checks a request against its definition and answers with a value of
// the definition's type.
func checkedAnswer(t *testing.T, def abi.HostCall, request []byte) (abi.CallStatus, []byte, error) {
	if def.RequestType != nil {
		v := reflect.New(reflect.TypeOf(def.RequestType))
		head, _, _ := bytes.Cut(request, []byte("\n"))
		if err := json.Unmarshal(head, v.Interface(), json.RejectUnknownMembers(true)); err != nil {
			t.Errorf("the request of %s, %s: %v", def.Name, head, err)
		}
	}
	switch {
	case def.Name == abi.CallRandom:
		return abi.CallOK, make([]byte, request[0]), nil
	case def.Name == abi.CallInput:
		return abi.CallOK, newTask(t, `{}`).input, nil
	case def.Name == abi.CallClock:
		return abi.CallOK, []byte(`{"unix_nano":"5"}`), nil
	case def.Name == abi.CallDeliveries:
		answer, err := json.Marshal(abi.CallDeliveriesAnswer{Deliveries: []abi.Delivery{{DeliveryID: "d", Text: "t"}, {Body: []byte{1}}}})
		return abi.CallOK, answer, err
	case def.AnswerType == nil:
		return abi.CallOK, nil, nil
	}
	answer, err := json.Marshal(def.AnswerType)
	if err != nil {
		return abi.CallOK, nil, fmt.Errorf("answering %s: %w", def.Name, err)
	}
	return abi.CallOK, answer, nil
}

// TestSDKImportsWhatIsUsed holds that the import section of a plugin made with the
// SDK lists what it does, and what Run does for it, and nothing else.
func TestSDKImportsWhatIsUsed(t *testing.T) {
	m := compile(t, newRuntime(t, Config{CacheDir: cacheDir}), buildWithSDK(t, small))
	want := []string{abi.CallID, abi.CallInput, abi.CallLog, abi.CallOutput}
	if !slices.Equal(m.Imports(), want) {
		t.Errorf("it imports %v, want %v", m.Imports(), want)
	}
}
