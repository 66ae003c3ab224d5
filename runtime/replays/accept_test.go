package replays

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// A request that cannot be done is refused before there is a Task.
func TestRefusals(t *testing.T) {
	r := newRoom(t)
	r.ran(t, "task_1", nil, talk...)
	r.ran(t, "task_replay", func(s *abi.Task) { s.Replay = &abi.TaskReplay{SourceTaskID: "task_1"} })
	r.ran(t, "task_runs", func(s *abi.Task) { s.Status = abi.TaskWorking })
	r.ran(t, "task_lost", func(s *abi.Task) { s.Module = "" })
	r.lost.starts["task_lost"] = true
	r.ran(t, "task_never", func(s *abi.Task) { s.Status, s.StartedAt, s.Module = abi.TaskCanceled, abi.Time{}, "" })
	over := func(key string, o abi.ReplayOverride) abi.ReplayTaskRequest {
		return abi.ReplayTaskRequest{Mode: abi.ReplayWithOverrides, Override: map[string]abi.ReplayOverride{key: o}}
	}
	yes := jsontext.Value(`{"text":"yes","stop_reason":"end"}`)
	before := over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideModel, Value: yes})
	before.Mode, before.CheckpointID = abi.ReplayFromCheckpoint, "call:2"
	for name, c := range map[string]struct {
		task string
		req  abi.ReplayTaskRequest
		code abi.ErrorCode
		says string
	}{
		"no task":                   {"task_none", abi.ReplayTaskRequest{}, abi.CodeResourceNotFound, "task_none"},
		"a replay":                  {"task_replay", abi.ReplayTaskRequest{}, abi.CodeInvalidRequest, "task_1"},
		"one that runs":             {"task_runs", abi.ReplayTaskRequest{}, abi.CodeConflict, "when it has ended"},
		"one that never ran":        {"task_never", abi.ReplayTaskRequest{}, abi.CodeConflict, "never started"},
		"one of before":             {"task_lost", abi.ReplayTaskRequest{}, abi.CodeConflict, "retention"},
		"metadata":                  {"task_1", abi.ReplayTaskRequest{Metadata: jsontext.Value(`[]`)}, abi.CodeInvalidRequest, "metadata"},
		"a mode":                    {"task_1", abi.ReplayTaskRequest{Mode: "backwards"}, abi.CodeInvalidRequest, "mode"},
		"a key":                     {"task_1", over("llm:other", abi.ReplayOverride{Kind: abi.OverrideModel, Value: yes}), abi.CodeInvalidRequest, "llm:main:1"},
		"an empty key":              {"task_1", over("", abi.ReplayOverride{Kind: abi.OverrideModel, Value: yes}), abi.CodeInvalidRequest, "llm:main:1"},
		"a kind":                    {"task_1", over("llm:main:1", abi.ReplayOverride{Kind: "guess", Value: yes}), abi.CodeInvalidRequest, "kind"},
		"a kind of another call":    {"task_1", over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideTime, Value: yes}), abi.CodeInvalidRequest, "cannot answer"},
		"a visibility":              {"task_1", over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideModel, Value: yes, Visibility: "some"}), abi.CodeInvalidRequest, "visibility"},
		"neither":                   {"task_1", over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideModel}), abi.CodeInvalidRequest, "artifact_id"},
		"both":                      {"task_1", over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideModel, Value: yes, ArtifactID: "artifact_1"}), abi.CodeInvalidRequest, "not both"},
		"no artifact":               {"task_1", over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideModel, ArtifactID: "artifact_none"}), abi.CodeResourceNotFound, "artifact_none"},
		"no hash":                   {"task_1", over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideModel, Value: yes, SHA256: "aa"}), abi.CodeInvalidRequest, "hash"},
		"the hash of another":       {"task_1", over("llm:main:1", abi.ReplayOverride{Kind: abi.OverrideModel, Value: yes, SHA256: journal.HashOf(nil)}), abi.CodeInvalidRequest, "sha256"},
		"before the checkpoint":     {"task_1", before, abi.CodeInvalidRequest, "lies before the checkpoint"},
		"overrides in exact":        {"task_1", abi.ReplayTaskRequest{Override: before.Override}, abi.CodeInvalidRequest, "with_overrides"},
		"no checkpoint":             {"task_1", abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint}, abi.CodeInvalidRequest, "checkpoint_event_id"},
		"a checkpoint in exact":     {"task_1", abi.ReplayTaskRequest{CheckpointID: "call:1"}, abi.CodeInvalidRequest, "from_checkpoint"},
		"a checkpoint too far":      {"task_1", abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint, CheckpointID: "call:5"}, abi.CodeInvalidRequest, "call:4"},
		"a checkpoint's spelling":   {"task_1", abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint, CheckpointID: "call:01"}, abi.CodeInvalidRequest, "no checkpoint"},
		"an event's spelling":       {"task_1", abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint, CheckpointEventID: "x"}, abi.CodeInvalidRequest, "not an event id"},
		"two checkpoints":           {"task_1", abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint, CheckpointID: "call:1", CheckpointEventID: r.record(t, "task_1").Entries[1].EventID}, abi.CodeInvalidRequest, "call:2"},
		"an event of somebody else": {"task_1", abi.ReplayTaskRequest{Mode: abi.ReplayFromCheckpoint, CheckpointEventID: "1"}, abi.CodeInvalidRequest, "not one of task task_1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.ReplayTask(t.Context(), r.Root(), nil, c.task, c.req)
			if refused := roomtest.WantCode(t, err, c.code); !strings.Contains(refused.Message+refused.Param, c.says) {
				t.Errorf("%q says nothing of %q", refused.Message, c.says)
			}
		})
	}
	for who, caller := range r.Strangers() {
		_, err := r.ReplayTask(t.Context(), caller, nil, "task_1", abi.ReplayTaskRequest{})
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		if _, err := r.ForkTask(t.Context(), caller, nil, "task_1", abi.ForkTaskRequest{}); err == nil {
			t.Error(who, "forks")
		}
		if _, err := r.ReplaySession(t.Context(), caller, nil, session, abi.ReplaySessionRequest{}, ""); err == nil {
			t.Error(who, "replays the session")
		}
	}
	if len(r.accepted) != 0 {
		t.Errorf("%d tasks were accepted", len(r.accepted))
	}
}

// The same replay has the same id, and any other another.
func TestReplayIDs(t *testing.T) {
	r := newRoom(t)
	r.ran(t, "task_1", nil, talk...)
	over := func(value string) abi.ReplayTaskRequest {
		return abi.ReplayTaskRequest{Mode: abi.ReplayWithOverrides, Override: map[string]abi.ReplayOverride{"llm:main:1": {Kind: abi.OverrideModel, Value: jsontext.Value(value)}}}
	}
	seen := map[string]int{}
	for i, req := range []abi.ReplayTaskRequest{{}, over(`{"text":"a","stop_reason":"end"}`), over(`{"text":"b","stop_reason":"end"}`),
		{Mode: abi.ReplayFromCheckpoint, CheckpointID: "call:1"}, {Mode: abi.ReplayFromCheckpoint, CheckpointID: "call:2"}} {
		a, b := r.replay(t, "task_1", req).about, r.replay(t, "task_1", req).about
		if a.Replay.ReplayID != b.Replay.ReplayID || a.ID == b.ID {
			t.Errorf("%+v: %s and %s", req, a.Replay.ReplayID, b.Replay.ReplayID)
		}
		if other, ok := seen[a.Replay.ReplayID]; ok {
			t.Errorf("requests %d and %d have the same id", i, other)
		}
		seen[a.Replay.ReplayID] = i
	}
	a, b := r.replay(t, "task_1", over(`{"text":"a","stop_reason":"end"}`)).about, r.replay(t, "task_1", over(`{ "stop_reason":"end", "text":"a" }`)).about
	if a.Replay.ReplayID != b.Replay.ReplayID {
		t.Error("another spelling of one value is another replay")
	}
}

// A replay belongs where its source does, and shares its input.
func TestWhatAReplayTakesOver(t *testing.T) {
	r := newRoom(t)
	r.ran(t, "task_1", func(s *abi.Task) { s.BranchID, s.PersonaVersion, s.Input = "branch_1", "3", jsontext.Value(`{"n":1}`) }, talk...)
	r.replay(t, "task_1", abi.ReplayTaskRequest{})
	d := r.accepted[0]
	if a := d.Task; a.SessionID != session || a.WorkspaceID != roomtest.Workspace || a.BranchID != "branch_1" || a.PersonaID != roomtest.Persona ||
		a.PersonaVersion != "3" || a.ParentTaskID != "task_1" || a.CreatedBy != "root" || string(d.Input) != `{"n":1}` {
		t.Errorf("%+v with %s", a, d.Input)
	}
}

// A fork shares the calls up to its event, but for what was approved last.
func TestForks(t *testing.T) {
	r := newRoom(t)
	gated := append(slices.Clone(talk[:2]), step{abi.CallGate, `{}`, `{}`}, talk[2])
	r.ran(t, "task_1", nil, gated...)
	r.ran(t, "task_replay", func(s *abi.Task) { s.Replay = &abi.TaskReplay{SourceTaskID: "task_1"} })
	r.ran(t, "task_never", func(s *abi.Task) { s.Status, s.StartedAt = abi.TaskCanceled, abi.Time{} })
	for name, c := range map[string]struct {
		req   abi.ForkTaskRequest
		calls int
	}{
		"all of it":          {abi.ForkTaskRequest{SameSession: true}, 4},
		"nothing of it":      {abi.ForkTaskRequest{SameSession: true, AtEventID: "0"}, 0},
		"at an event":        {abi.ForkTaskRequest{SameSession: true, AtEventID: r.record(t, "task_1").Entries[1].EventID}, 2},
		"in another session": {abi.ForkTaskRequest{}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := r.ForkTask(t.Context(), r.Root(), nil, "task_1", c.req); err != nil {
				t.Fatal(err)
			}
			a := r.accepted[len(r.accepted)-1].Task
			if a.Fork == nil || a.Fork.Calls != c.calls || a.Fork.SourceTaskID != "task_1" || (a.SessionID == session) != c.req.SameSession {
				t.Errorf("%+v in %s", a.Fork, a.SessionID)
			}
		})
	}
	r.ran(t, "task_2", nil, gated[:3]...)
	if _, err := r.ForkTask(t.Context(), r.Root(), nil, "task_2", abi.ForkTaskRequest{SameSession: true}); err != nil {
		t.Fatal(err)
	}
	if a := r.accepted[len(r.accepted)-1].Task; a.Fork.Calls != 2 {
		t.Errorf("an approval is shared: %+v", a.Fork)
	}
	for task, code := range map[string]abi.ErrorCode{"task_replay": abi.CodeInvalidRequest, "task_never": abi.CodeConflict, "task_none": abi.CodeResourceNotFound} {
		_, err := r.ForkTask(t.Context(), r.Root(), nil, task, abi.ForkTaskRequest{})
		roomtest.WantCode(t, err, code)
	}
	_, err := r.ForkTask(t.Context(), r.Root(), nil, "task_1", abi.ForkTaskRequest{AtEventID: "x"})
	roomtest.WantParam(t, err, "at_event_id")
}

// A Session is replayed from its oldest Task on, or from where the last request came to;
// what cannot be replayed is left out.
func TestReplaySession(t *testing.T) {
	r := newRoom(t)
	var want []string
	for i := range 5 {
		id := fmt.Sprintf("task_%d", i)
		r.ran(t, id, nil, talk...)
		want = append(want, id)
	}
	r.ran(t, "task_5", func(s *abi.Task) { s.Status = abi.TaskWorking })
	r.ran(t, "task_6", func(s *abi.Task) { s.Replay = &abi.TaskReplay{SourceTaskID: "task_1"} })
	r.ran(t, "task_7", func(s *abi.Task) { s.Status, s.StartedAt = abi.TaskCanceled, abi.Time{} })
	for _, after := range []int{-1, 1, 4} {
		r.accepted = nil
		at := ""
		if after >= 0 {
			at = want[after]
		}
		list, err := r.ReplaySession(t.Context(), r.Root(), nil, session, abi.ReplaySessionRequest{Reason: "all"}, at)
		if err != nil {
			t.Fatal(err)
		}
		var sources []string
		for _, d := range r.accepted {
			sources = append(sources, d.Task.Replay.SourceTaskID)
		}
		if !slices.Equal(sources, want[after+1:]) || len(list.Docs) != len(sources) || list.More {
			t.Errorf("after %q: %v were replayed", at, sources)
		}
	}
	kinds := r.Kinds(t, desk.Filter{SessionID: session})
	if n := count(kinds, abi.EventSessionReplayed); n != 3 {
		t.Errorf("the session's watchers are told %d times", n)
	}
}
