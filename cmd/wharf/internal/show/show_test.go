package show

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
)

var update = flag.Bool("update", false, "rewrite golden files")

func screen(mode string, env map[string]string) (*Screen, *bytes.Buffer) {
	var out bytes.Buffer
	return NewScreen(&out, mode, func(name string) string { return env[name] }), &out
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update rewrites it):\n%s", name, got)
	}
}

func TestColoursAppearWhereTheyAreWanted(t *testing.T) {
	for mode, colored := range map[string]bool{"auto": false, "never": false, "always": true} {
		s, _ := screen(mode, nil)
		if got := s.Paint(Red, "x") != "x"; got != colored {
			t.Errorf("--color %s into a file: coloured is %t", mode, got)
		}
	}
}

func TestTheTerminalIsNotSteeredByContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range Clean(rapid.String().Draw(t, "text")) {
			if r != '\n' && r != '\t' && unicode.IsControl(r) {
				t.Fatalf("%q was let through", r)
			}
		}
	})
	if got := Clean("\x1b[31mred\x1b]0;title\x07\u202egnp.exe \xff"); got != "[31mred]0;titlegnp.exe \uFFFD" {
		t.Errorf("got %q", got)
	}
	if got := OneLine("a\r\n\tb\x00 c"); got != "a b c" {
		t.Errorf("got %q", got)
	}
}

func TestTablesAreAligned(t *testing.T) {
	s, out := screen("never", nil)
	s.Table([]string{"NAME", "STATE"}, [][]Cell{Cells("a", "ok"), {{Text: "größer", Style: Red}, {Text: "two\nlines"}}, Cells("", "")})
	want := "NAME    STATE\na       ok\ngrößer  two lines\n\n"
	if out.String() != want {
		t.Errorf("got\n%s", out)
	}
	colored, painted := screen("always", nil)
	colored.Table(nil, [][]Cell{{{Text: "x", Style: Red}, {Text: "y"}}, Cells("xxx", "y")})
	if want := "\x1b[31mx\x1b[0m    y\nxxx  y\n"; painted.String() != want {
		t.Errorf("got %q", painted)
	}
}

func TestUnits(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 10 << 20: "10 MiB", 3 << 40: "3.0 TiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0 ns", 1500: "1.50 µs", 42 * time.Millisecond: "42.0 ms",
		3 * time.Second: "3.00 s", 5 * time.Minute: "5m0s"} {
		if got := Duration(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
	now := time.Unix(1_000_000, 0)
	for d, want := range map[time.Duration]string{0: "now", 5 * time.Second: "5s ago", 3 * time.Hour: "3h ago", 72 * time.Hour: "3d ago"} {
		if got := Ago(now.Add(-d), now); got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
}

// eventOf makes an event half a second later than the one before.
func eventOf(n int, kind abi.EventKind, payload string) *abi.Event {
	at := time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * 500 * time.Millisecond)
	return &abi.Event{Envelope: abi.Envelope{CreatedAt: abi.At(at)}, Event: kind, Payload: jsontext.Value(payload)}
}

func TestEvents(t *testing.T) {
	events := []*abi.Event{
		eventOf(0, abi.EventSessionCreated, `{"session":{"id":"sess_1","state":"ACTIVE"}}`),
		eventOf(1, abi.EventUserMessage, `{"message":{"role":"user","parts":[{"type":"text","text":"Hello,\n  world","visibility":"public"},{"type":"artifact_ref","artifact_id":"art_1","visibility":"public"}]}}`),
		eventOf(2, abi.EventTaskSubmitted, `{"task":{"status":"SUBMITTED","persona_id":"persona_echo"}}`),
		eventOf(3, abi.EventTaskStarted, `{"task":{"status":"WORKING","attempt":2}}`),
		eventOf(4, abi.EventLog, `{"level":"warn","message":"\u001b[2Jcareful"}`),
		eventOf(5, abi.EventProgress, `{"fraction":0.42,"message":"reading"}`),
		eventOf(5, abi.EventMessageDelta, `{"text":"once\u001b upon\n a ","message_id":"msg_1","offset":0,"index":7,"attempt":1}`),
		eventOf(6, abi.EventArtifactCreated, `{"artifact":{"id":"art_2","name":"digest.md","mime_type":"text/markdown","size_bytes":2048}}`),
		eventOf(7, abi.EventAgentMessage, `{"message":{"role":"assistant","parts":[{"type":"text","visibility":"internal","redacted":true},{"type":"json","value":{},"visibility":"public"}]}}`),
		eventOf(8, abi.EventOutcomeCreated, `{"outcome":{"status":"SUCCEEDED","summary":"all is well"}}`),
		eventOf(9, abi.EventTaskFailed, `{"task":{"status":"FAILED","failure":{"code":"plugin_trap","message":"unreachable"}}}`),
		eventOf(10, abi.EventTaskCanceled, `{"task":{"status":"CANCELED"},"reason":"enough"}`),
		eventOf(11, "vendor.other.thing", `{"x":1}`),
		eventOf(12, "org.example.garbage", `not JSON`),
		eventOf(13, abi.EventAgentMessage, `{"message":{"role":"assistant","parts":[{"type":"text","text":"`+strings.Repeat("long ", 60)+`","visibility":"public"}]}}`),
	}
	replayed := eventOf(28, abi.EventReplayEventReplayed, `{"replayed_call":"clock","replayed_index":0}`)
	replayed.Replay = &abi.ReplayMarks{OriginalEventID: "17"}
	overridden := eventOf(29, abi.EventReplayEventReplayed, `{"replayed_call":"llm.complete","replayed_index":1}`)
	overridden.Replay = &abi.ReplayMarks{OriginalEventID: "18", OverrideKey: "llm:1"}
	events = append(events,
		eventOf(14, abi.EventSpanStarted, `{"call":"llm.complete","index":3,"phase":"intent","request":{}}`),
		eventOf(15, abi.EventSpanCompleted, `{"call":"llm.complete","index":3,"phase":"result","answer":{"model":"m-1","text":"Yes.","tool_calls":[{"id":"1","name":"ls","arguments":{}}],"usage":{"input_tokens":12,"output_tokens":3}}}`),
		eventOf(16, abi.EventSpanFailed, `{"call":"llm.complete","index":4,"status":5,"answer":{"code":"unavailable","message":"nobody home"}}`),
		eventOf(17, abi.EventToolCompleted, `{"call":"tool.call","index":5,"request":{"server":"fs","name":"read"},"answer":{}}`),
		eventOf(18, abi.EventToolCompleted, `{"call":"tool.call","index":5,"request_sha256":"sha256:0","answer_sha256":"sha256:0","redacted":true}`),
		eventOf(18, abi.EventToolRequested, `{"call":"tool.call","index":5,"request_sha256":"sha256:0","redacted":true,"tool":{"call_id":"call-5","server":"fs","name":"read"}}`),
		eventOf(18, abi.EventToolCompleted, `{"call":"tool.call","index":5,"answer":{},"tool":{"call_id":"call-5","server":"fs","name":"read","duration_us":12345}}`),
		eventOf(18, abi.EventToolCompleted, `{"call":"tool.call","index":5,"answer":{},"tool":{"call_id":"call-5","server":"fs","name":"read","duration_us":2000000,"error_category":"tool_error"}}`),
		eventOf(18, abi.EventToolFailed, `{"call":"tool.call","index":5,"status":2,"answer":{"code":"tool_denied","message":"no"},"tool":{"call_id":"call-5","server":"fs","name":"read","duration_us":7,"error_category":"permission_denied"}}`),
		eventOf(19, abi.EventSpanCompleted, `{"call":"http.fetch","index":6,"request":{"url":"https://example.com/"},"answer":{"status":404}}`),
		eventOf(20, abi.EventCall, `{"call":"clock","index":7,"answer":{"unix_ms":1}}`),
		eventOf(21, abi.EventCall, `{"call":"secret.use","index":8,"request":{"name":"token"},"status":2}`),
		eventOf(21, abi.EventCall, `{"call":"block.write","index":8,"request":{"label":"user","value":"Likes tea."},"answer":{"label":"user","version":2,"characters":10}}`),
		eventOf(22, abi.EventTaskInputRequired, `{"task":{"status":"INPUT_REQUIRED","waiting":{"call":"input.request","index":9,"request_id":"r","prompt":"Which port?"}}}`),
		eventOf(23, abi.EventUserInputSubmitted, `{"call":"input.request","index":9,"phase":"result","redacted":true}`),
		eventOf(24, abi.EventTaskStatusChanged, `{"task":{"status":"WORKING"}}`),
		eventOf(25, abi.EventReceiptIssued, `{"receipt":{"id":"rcpt_1","summary":"task COMPLETED"}}`),
		eventOf(26, abi.EventReceiptVerificationFailed, `{"reason":"the hash differs"}`),
		eventOf(27, abi.EventReplayStarted, `{"mode":"exact","reason":""}`),
		replayed, overridden,
		eventOf(30, abi.EventReplayCompleted, `{"mode":"exact","calls":3}`),
		eventOf(31, abi.EventReplayFailed, `{"mode":"exact","calls":2,"failure":{"code":"replay_divergence","message":"call 2: the record ends here"}}`),
		eventOf(32, abi.EventWorker, `{"worker_id":"task_2","worker_name":"Digest","worker_task":"Sum it\nup","worker_mode":"sub_agent","event":"WorkerSpawned","status":"running","terminal":false,"metadata":{}}`),
		eventOf(33, abi.EventWorker, `{"worker_id":"task_2","worker_name":"Digest","worker_task":"Sum it up","worker_mode":"sub_agent","event":"WorkerWaitingForInput","status":"awaiting_input","terminal":false,"metadata":{}}`),
		eventOf(34, abi.EventWorker, `{"worker_id":"task_2","worker_name":"Digest","worker_task":"Sum it up","worker_mode":"sub_agent","event":"WorkerFailed","status":"failed","terminal":true,"metadata":{"error":{"code":"plugin_trap","message":"unreachable"}}}`),
		eventOf(35, abi.EventInjectionQueued, `{"injection":{"id":"inj_1","kind":"user","mode":"steer","status":"accepted","parts":[{"type":"text","text":"Leave the tests alone","visibility":"public"}]}}`),
		eventOf(36, abi.EventInjectionRevoked, `{"injection":{"id":"inj_2","kind":"reminder","mode":"finish_step","status":"revoked","body":"The branch was rebased"}}`),
		eventOf(37, abi.EventInjectionDelivered, `{"injection":{"id":"inj_1","kind":"user","mode":"steer","status":"delivered","task_id":"task_1","parts":[{"type":"text","text":"Leave the tests alone","visibility":"public"}]}}`),
		eventOf(38, abi.EventInboxChanged, `{"inbox":{"id":"sess_1","pending":[{"id":"inj_1","kind":"user","mode":"steer","bytes":3}]}}`),
		eventOf(39, abi.EventReminderEmitted, `{"reminder":{"reminder_id":"inj_3","tags":["ci"],"body":"2 tests fail","role_hint":"system","rendered_role":"system","source":"client","ttl_turns":1}}`),
		eventOf(40, abi.EventLiveClient, `{"action":"attached","client":{"client_id":"tui","mode":"observer"},"previous_controller_id":null,"active_controller_id":"portal"}`),
		eventOf(41, abi.EventLiveClient, `{"action":"taken_over","client":{"client_id":"tui","mode":"controller"},"previous_controller_id":"portal","active_controller_id":"tui"}`),
		eventOf(42, abi.EventLiveClient, `{"action":"detached","client":{"client_id":"tui","mode":"controller"},"previous_controller_id":"tui","active_controller_id":null,"reason":"client_exit"}`),
		eventOf(43, abi.EventLivePermissionRoute, `{"request_id":"perm_1","controller_client_id":"tui","metadata":{}}`),
		eventOf(44, abi.EventAgentEvent, `{"kind":"skill_activated","data":{"skill_name":"pdf","iteration":2,"reason":"it names a PDF"}}`),
		eventOf(45, abi.EventAgentEvent, `{"kind":"transcript_compacted","data":{"mode":"auto","reason":"the context is full","strategy":"llm","archived_messages":12,"estimated_tokens_before":9000,"estimated_tokens_after":2000}}`),
		eventOf(46, abi.EventAgentEvent, `{"kind":"tool_search_result","type":"tool_search_result","visibility":"internal","redacted":true}`),
		eventOf(47, abi.EventComposition, `{"kind":"composition_child_call","run_id":"run_1"}`),
		eventOf(47, abi.EventSpanFailed, `{"call":"memory.write","index":4,"status":2,"answer":{"code":"proposed","message":"memory.write was not done: it was noted as a proposal, for persona p only suggests"}}`),
		eventOf(47, abi.EventToolFailed, `{"call":"tool.call","index":4,"status":2,"request":{"server":"fs","name":"write"},"answer":{"code":"shadow","message":"it was not done"}}`),
		eventOf(47, abi.EventSpanFailed, `{"call":"http.fetch","index":4,"status":5,"answer":{"code":"proposed","message":"what a server says"}}`),
		eventOf(48, abi.EventWorker, `{"worker_id":7}`),
	)
	s, out := screen("never", nil)
	for _, e := range events {
		s.Event(e, events[0].CreatedAt)
	}
	golden(t, "events.txt", out.String())
}

func TestAnswers(t *testing.T) {
	var o abi.Outcome
	text := `{"messages":[{"role":"assistant","parts":[{"type":"text","text":"# Title\n\nBody","visibility":"public"},
		{"type":"json","value":{},"visibility":"public"}]},{"role":"user","parts":[{"type":"text","text":"not this","visibility":"public"}]}],
		"artifacts":[{"id":"art_1","name":"a.md","mime_type":"text/markdown","size_bytes":5}]}`
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	s, out := screen("never", nil)
	s.Artifacts(&o)
	if !s.Answer(&o) {
		t.Error("there is an answer")
	}
	golden(t, "answer.txt", out.String())
	if s.Answer(&abi.Outcome{}) {
		t.Error("there is no answer")
	}
}

// What is sent is told in one line, which is gone in the end; only on a terminal, and only of much.
func TestMoving(t *testing.T) {
	for name, c := range map[string]struct {
		width int
		total int64
		lines int
	}{"much": {80, 2 << 20, 101}, "on no terminal": {0, 2 << 20, 0}, "little": {80, 1000, 0}, "nothing": {80, 0, 0}} {
		s, out := screen("always", nil)
		s.width = c.width
		m := s.Moving(strings.NewReader(strings.Repeat("x", int(c.total))), "a\nplugin\x1b[2J", c.total)
		if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, m, make([]byte, 1000)); err != nil || n != c.total {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		shown := out.String()
		if got := strings.Count(shown, "\x1b[K"); got != c.lines+min(c.lines, 1) || strings.Contains(shown, "\n") || strings.Contains(shown, "\x1b[2J") {
			t.Errorf("%s: %d lines:\n%q", name, got, shown)
		}
		if c.lines > 0 && (!strings.Contains(shown, " 50%  1.0 MiB of 2.0 MiB  a plugin") || !strings.HasSuffix(shown, "\r\x1b[K")) {
			t.Errorf("%s: %q", name, shown)
		}
		if _, err := m.Read(make([]byte, 1)); err != io.EOF || out.String() != shown {
			t.Errorf("%s: it goes on, %v", name, err)
		}
	}
}

func TestProgressReplacesProgressOnATerminal(t *testing.T) {
	s, out := screen("never", nil)
	s.width = 100
	for n, kind := range []abi.EventKind{abi.EventProgress, abi.EventProgress, abi.EventLog, abi.EventProgress} {
		s.Event(eventOf(n, kind, `{"fraction":0.5,"level":"info","message":"m"}`), time.Time{})
	}
	if up := strings.Count(out.String(), "\x1b[1A"); up != 1 {
		t.Errorf("%d lines were replaced, want 1:\n%q", up, out)
	}
}

func TestWrappingKeepsEveryWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _ := screen("never", nil)
		s.width = rapid.IntRange(10, 60).Draw(t, "width")
		line := strings.Repeat(" ", rapid.IntRange(0, 6).Draw(t, "indent")) +
			strings.Join(rapid.SliceOf(rapid.StringMatching("[a-zäß]{1,9}")).Draw(t, "words"), " ")
		lines := s.wrap([]string{line}, 2)
		if got := strings.Fields(strings.Join(lines, " ")); strings.Join(got, " ") != strings.Join(strings.Fields(line), " ") {
			t.Fatalf("%q became %q", line, lines)
		}
		for _, l := range lines {
			if width(l) > s.width-2 && len(strings.Fields(l)) > 1 {
				t.Fatalf("%q is wider than %d", l, s.width-2)
			}
		}
	})
}
