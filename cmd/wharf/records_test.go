package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/sandbox/kept"
)

// stand is a node that gives one answer by method and path, and keeps what it was
// asked.
type stand struct {
	*httptest.Server
	answers map[string]string // "METHOD path" to a body; "!" in front: the connection breaks after it
	asked   map[string]string // "METHOD path" to the last body
}

func newStand(t *testing.T, answers map[string]string) *stand {
	s := &stand{answers: answers, asked: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := r.Method + " " + r.URL.Path
		body, _ := io.ReadAll(r.Body)
		s.asked[to] = string(body)
		answer, ok := s.answers[to]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"error":{"code":"resource_not_found","message":"nothing at ` + to + `","type":"not_found_error"}}`
		}
		torn := strings.HasPrefix(answer, "!")
		_, _ = io.WriteString(w, strings.TrimPrefix(answer, "!"))
		if torn {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// wharf runs the program against the stand.
func (s *stand) wharf(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, env: func(name string) string {
		if name == confinedEnv {
			return inThisProcess(name)
		}
		return map[string]string{"WHARF_SERVER": s.URL, "WHARF_API_KEY": "a-key-for-tests-only"}[name]
	}}
	code = a.execute(t.Context(), args)
	return code, stdout.String(), stderr.String()
}

func TestAnswersAsTheyAreSent(t *testing.T) {
	s := newStand(t, map[string]string{"POST /v1/tasks/task_1/messages": `{"id":"msg_1","object":"message"}`})
	for args, want := range map[string]string{
		"--text|the second":         `{"kind":"input","message":{"role":"user","parts":[{"type":"text","text":"the second","visibility":"public"}]}}`,
		"--value|{\"p\": 1}":        `{"kind":"input","message":{"role":"user","parts":[{"type":"json","value":{"p":1},"visibility":"public"}]}}`,
		"--approve":                 `{"kind":"tool_confirmation","message":{"role":"user","parts":[{"type":"json","value":{"decision":"approved"},"visibility":"public"}]}}`,
		"--approve|--arguments|{}":  `{"kind":"tool_confirmation","message":{"role":"user","parts":[{"type":"json","value":{"decision":"approved","arguments":{}},"visibility":"public"}]}}`,
		"--deny|--reason|too risky": `{"kind":"tool_confirmation","message":{"role":"user","parts":[{"type":"json","value":{"decision":"denied","reason":"too risky"},"visibility":"public"}]}}`,
		"":                          "", "--text|a|--deny": "", "--text|a|--reason|b": "", "--value|{": "", "--deny|--arguments|{}": "", "--approve|--arguments|1": "",
	} {
		clear(s.asked)
		code, _, errs := s.wharf(t, append([]string{"task", "answer", "task_1"}, words(args)...)...)
		if got := s.asked["POST /v1/tasks/task_1/messages"]; got != want || (code == exitUsage) != (want == "") {
			t.Errorf("%s: code %d\n%s\nwant %s\n%s", args, code, got, want, errs)
		}
	}
}

func words(args string) []string {
	if args == "" {
		return nil
	}
	return strings.Split(args, "|")
}

func TestReplaysAsTheyAreSent(t *testing.T) {
	s := newStand(t, map[string]string{"POST /v1/tasks/task_1/replay": `{"id":"task_2","object":"task","status":"SUBMITTED"}`})
	value, all := filepath.Join(t.TempDir(), "value"), filepath.Join(t.TempDir(), "all")
	put(t, value, "{\"token\": \"t\"}\n")
	put(t, all, `{"llm:1":{"kind":"llm_provider_response","value":1,"reason":"r"},"time:1":{"kind":"time","value":2}}`)
	for args, want := range map[string]string{
		"":                                     `{"mode":"exact"}`,
		"--checkpoint-event|42":                `{"mode":"from_checkpoint","checkpoint_event_id":"42"}`,
		"--override|llm:1={\"text\": \"a=b\"}": `{"mode":"with_overrides","override":{"llm:1":{"kind":"llm_provider_response","value":{"text":"a=b"}}}}`,
		"--override|secret:x=@" + value:        `{"mode":"with_overrides","override":{"secret:x":{"kind":"secret_value","value":{"token":"t"}}}}`,
		"--override|host:random:1=1|--mode|exact":     `{"mode":"exact","override":{"host:random:1":{"kind":"host_fact","value":1}}}`,
		"--overrides|" + all + "|--override|time:1=3": `{"mode":"with_overrides","override":{"llm:1":{"kind":"llm_provider_response","value":1,"reason":"r"},"time:1":{"kind":"time","value":3}}}`,
		"--override|mcp:fs:1":                         "", "--override|mcp:fs:1=text": "", "--mode|fast": "", "--overrides|" + value: "", "--wait=-1s": "",
	} {
		clear(s.asked)
		code, _, errs := s.wharf(t, append([]string{"task", "replay", "task_1"}, words(args)...)...)
		if got := s.asked["POST /v1/tasks/task_1/replay"]; got != want || (code == exitUsage) != (want == "") {
			t.Errorf("%s: code %d\n%s\nwant %s\n%s", args, code, got, want, errs)
		}
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const sampleRecord = `{"task_id":"ID","program":{"plugin":"p","module":"sha256:0","export":"run","abi":"wharf-abi-1","persona":"sha256:1","seed":"","limits":{},"engine":"e","arch":"a"},
	"input":"{}","created_at":"2026-01-01T00:00:00Z","started_at":"2026-01-01T00:00:00Z","end":{"status":"COMPLETED","calls":1},
	"entries":[{"index":0,"call":"clock","effect":"local","at":"2026-01-01T00:00:00Z","status":0,"request":"","answer":"{\"t\":1}"},
	           {"index":1,"call":"llm.complete","effect":"read","at":"2026-01-01T00:00:00Z","status":0,"request":"{\"q\":1}","answer":"{\"a\":\"yes\"}"}]}`

// Of a replay, what was overridden is a difference, and so is what was not reached.
func TestDiffWithAReplay(t *testing.T) {
	const replay = `{"id":"ID","object":"task","status":"COMPLETED","module":"sha256:0","replay":{"source_task_id":"task_a","mode":"with_overrides"}}`
	event := func(id, index, sum, key string) string {
		return `{"id":"` + id + `","object":"event","event":"replay.event_replayed","replay":{"override_key":"` + key + `"},"payload":{"replayed_index":` + index + `,"answer_sha256":"sha256:` + sum + `"}}`
	}
	list := func(events ...string) string {
		return `{"object":"list","data":[` + strings.Join(events, ",") + `],"page":{"has_more":false}}`
	}
	first := event("1", "0", strings.TrimPrefix(journal.HashOf([]byte(`{"t":1}`)), "sha256:"), "")
	second := event("2", "1", strings.TrimPrefix(journal.HashOf([]byte(`{"a":"yes"}`)), "sha256:"), "")
	s := newStand(t, map[string]string{
		"GET /v1/tasks/task_a":              `{"id":"task_a","object":"task","status":"COMPLETED"}`,
		"GET /wharf/v1/tasks/task_a/record": strings.ReplaceAll(sampleRecord, "ID", "task_a"),
		"GET /v1/tasks/same":                strings.ReplaceAll(replay, "ID", "same"),
		"GET /v1/tasks/same/events":         list(first, second),
		"GET /v1/tasks/other":               strings.ReplaceAll(replay, "ID", "other"),
		"GET /v1/tasks/other/events":        list(first, event("2", "1", "0", "llm:1")),
		"GET /v1/tasks/short":               strings.ReplaceAll(replay, "ID", "short"),
		"GET /v1/tasks/short/events":        list(first),
		"GET /v1/tasks/running":             strings.ReplaceAll(strings.ReplaceAll(replay, "ID", "running"), "COMPLETED", "WORKING"),
	})
	for id, want := range map[string]struct {
		code int
		out  string
	}{
		"same": {0, "the same: 2 calls"}, "other": {1, "+(what the override of llm:1 says, sha256:0)"},
		"short": {1, "call 1 is the first that differs: llm.complete, which only a made"}, "running": {exitUndecided, ""},
	} {
		if code, out, errs := s.wharf(t, "task", "diff", "task_a", id); code != want.code || !strings.Contains(out, want.out) {
			t.Errorf("%s: code %d\n%s%s", id, code, out, errs)
		}
	}
}

// A Task that ended within a wait and its exact replay are the same; one that diverged
// there, or stopped before, is not.
func TestDiffWithAReplayOfAWait(t *testing.T) {
	waits := strings.Replace(sampleRecord, `"calls":1`, `"calls":1,"stopped":true`, 1)
	waits = strings.Replace(strings.Replace(waits, "COMPLETED", "CANCELED", 1), `"answer":"{\"a\":\"yes\"}"`, `"open":true`, 1)
	const replay = `{"id":"ID","object":"task","status":"CANCELED","module":"sha256:0","replay":{"source_task_id":"task_a","mode":"exact"}}`
	told := `{"object":"list","data":[{"id":"1","object":"event","event":"replay.event_replayed","payload":{"replayed_index":0,"answer_sha256":"` +
		journal.HashOf([]byte(`{"t":1}`)) + `"}}],"page":{"has_more":false}}`
	s := newStand(t, map[string]string{
		"GET /v1/tasks/task_a":              `{"id":"task_a","object":"task","status":"CANCELED"}`,
		"GET /wharf/v1/tasks/task_a/record": strings.ReplaceAll(waits, "ID", "task_a"),
		"GET /v1/tasks/same":                strings.ReplaceAll(replay, "ID", "same"),
		"GET /v1/tasks/same/events":         told,
		"GET /v1/tasks/restored":            strings.Replace(strings.ReplaceAll(replay, "ID", "restored"), `"exact"`, `"from_checkpoint","checkpoint":1`, 1),
		"GET /v1/tasks/restored/events":     `{"object":"list","data":[],"page":{"has_more":false}}`,
		"GET /v1/tasks/short":               strings.ReplaceAll(replay, "ID", "short"),
		"GET /v1/tasks/short/events":        `{"object":"list","data":[],"page":{"has_more":false}}`,
		"GET /v1/tasks/other":               strings.Replace(strings.ReplaceAll(replay, "ID", "other"), `"CANCELED"`, `"FAILED","failure":{"code":"replay_divergence","message":"m"}`, 1),
		"GET /v1/tasks/other/events":        told,
	})
	for id, want := range map[string]struct {
		code int
		out  string
	}{
		"same": {0, "the same: 2 calls"}, "restored": {0, "the same: 2 calls"},
		"short": {1, "call 0 is the first that differs"}, "other": {1, "call 1 is the first that differs: llm.complete, which only a made"},
	} {
		if code, out, errs := s.wharf(t, "task", "diff", "task_a", id); code != want.code || !strings.Contains(out, want.out) {
			t.Errorf("%s: code %d\n%s%s", id, code, out, errs)
		}
	}
}

func TestDiff(t *testing.T) {
	a := strings.ReplaceAll(sampleRecord, "ID", "task_a")
	const plain = `{"object":"task","status":"COMPLETED"}`
	s := newStand(t, map[string]string{
		"GET /v1/tasks/task_a": plain, "GET /v1/tasks/task_b": plain, "GET /v1/tasks/task_c": plain,
		"GET /wharf/v1/tasks/task_a/record": a,
		"GET /wharf/v1/tasks/task_b/record": strings.ReplaceAll(sampleRecord, "ID", "task_b"),
		"GET /wharf/v1/tasks/task_c/record": strings.ReplaceAll(a, "yes", "no"),
	})
	if code, out, errs := s.wharf(t, "task", "diff", "task_a", "task_b"); code != 0 || !strings.Contains(out, "the same: 2 calls, and the end") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	code, out, errs := s.wharf(t, "task", "diff", "task_a", "task_c")
	for _, want := range []string{"call 1 is the first that differs: llm.complete was answered otherwise", "-  \"a\": \"yes\"", "+  \"a\": \"no\""} {
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("code %d, want %q in\n%s%s", code, want, out, errs)
		}
	}
	if code, out, _ := s.wharf(t, "task", "diff", "task_a", "task_c", "--json"); code != 1 || !strings.Contains(out, `"changes":[{"index":1,"index_b":1,"kind":"answer","a":"llm.complete","b":"llm.complete","differences":[{"path":"/a","want":"yes","got":"no"}]}]`) {
		t.Errorf("code %d\n%s", code, out)
	}
	if code, out, errs := s.wharf(t, "task", "diff", "task_a", "task_none"); code != exitUndecided || out != "" || errs == "" {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
}

// A file is there whole or not at all.
func TestExport(t *testing.T) {
	s := newStand(t, map[string]string{"GET /wharf/v1/tasks/task_1/bundle": "PK whole", "GET /wharf/v1/tasks/task_2/bundle": "!PK half"})
	file := filepath.Join(t.TempDir(), "run.zip")
	if code, out, errs := s.wharf(t, "export", "task_1"); code != 0 || out != "PK whole" {
		t.Errorf("code %d: %q %s", code, out, errs)
	}
	if code, _, errs := s.wharf(t, "export", "task_2", "-o", file); code != exitFailed || !strings.Contains(errs, "the bundle is not complete") {
		t.Errorf("code %d: %s", code, errs)
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if code, out, errs := s.wharf(t, "export", "task_1", "-o", file); code != 0 || !strings.Contains(out, "verify "+file) {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if text, err := os.ReadFile(file); string(text) != "PK whole" {
		t.Errorf("%q %v", text, err)
	}
}

func TestReceipts(t *testing.T) {
	const resource = `{"id":"rcpt_1","object":"receipt","summary":"task COMPLETED","issuer":"wharf","issued_at":"2026-01-01T00:00:00Z","subject":{"object":"task","id":"task_1"},"task_id":"task_1","wire":{"schema":"receipt-2026-04-25"}}`
	s := newStand(t, map[string]string{
		"GET /v1/tasks/task_1/receipts":   `{"object":"list","data":[` + resource + `],"page":{"has_more":false}}`,
		"GET /v1/tasks/task_2/receipts":   `{"object":"list","data":[],"page":{"has_more":false}}`,
		"GET /v1/receipts/rcpt_1":         resource,
		"POST /v1/receipts/rcpt_1/verify": `{"valid":true,"checked_at":"2026-01-01T00:00:00Z"}`,
		"POST /v1/receipts/rcpt_2/verify": `{"valid":false,"checked_at":"2026-01-01T00:00:00Z","reason":"hash: it is another"}`,
	})
	for args, want := range map[string]struct {
		code int
		out  string
	}{
		"task receipts task_1":                {0, "rcpt_1"},
		"task receipts task_2":                {0, "no receipts"},
		"receipt get rcpt_1":                  {0, `"schema": "receipt-2026-04-25"`},
		"receipt get rcpt_1 --form xml":       {exitUsage, ""},
		"receipt verify rcpt_1":               {0, "rcpt_1  valid"},
		"receipt verify rcpt_2":               {1, "not valid: hash: it is another"},
		"receipt verify rcpt_3":               {exitUndecided, ""},
		"receipt verify rcpt_1 --trust k-1":   {0, "valid"},
		"receipt verify rcpt_2 --json":        {1, `"valid":false`},
		"receipt verify rcpt_2 --no-such-one": {exitUsage, ""},
	} {
		if code, out, errs := s.wharf(t, strings.Fields(args)...); code != want.code || !strings.Contains(out, want.out) {
			t.Errorf("%s: code %d\n%s%s", args, code, out, errs)
		}
	}
}

// A waiting Task says what it wants, and what to type.
func TestWaitingTasksSayWhatToType(t *testing.T) {
	task := func(waiting string) string {
		return `{"id":"task_1","object":"task","status":"INPUT_REQUIRED","created_by":"x","created_at":"2026-01-01T00:00:00Z","waiting":` + waiting + `}`
	}
	for waiting, want := range map[string][]string{
		`{"call":"input.request","prompt":"Which port?"}`:                        {"waits for input", "Which port?", "task answer task_1 --text TEXT"},
		`{"call":"input.request","prompt":"Which?","schema":{"type":"integer"}}`: {`{"type":"integer"}`, "--value JSON"},
		`{"call":"approval.request","action":"files.delete","prompt":"May I?"}`:  {"waits for an approval", "files.delete", "--approve (or --deny)"},
		`{"call":"auth.request","prompt":"Log in","url":"https://example.com/"}`: {"https://example.com/", "--text done"},
		`{"call":"task.await","task_id":"task_9"}`:                               {"another Task", "task_9"},
		`{"call":"sleep","until":"2026-01-01T00:00:00Z"}`:                        {"a while", "until"},
	} {
		event := `data: {"id":"7","object":"event","event":"task.input_required","created_at":"2026-01-01T00:00:00Z","payload":{"task":` + task(waiting) + `}}` + "\n\n"
		end := `data: {"id":"8","object":"event","event":"task.canceled","task_id":"task_1","payload":{}}` + "\n\n"
		s := newStand(t, map[string]string{"GET /v1/tasks/task_1": task(waiting), "GET /v1/tasks/task_1/stream": event + end})
		over := newStand(t, map[string]string{"GET /v1/tasks/task_1": `{"id":"task_1"}`, "GET /v1/tasks/task_1/stream": event + end})
		_, shown, _ := s.wharf(t, "task", "get", "task_1")
		for _, w := range want {
			if !strings.Contains(shown, w) {
				t.Errorf("%q is missing:\n%s", w, shown)
			}
		}
		_, tail, _ := s.wharf(t, "task", "tail", "task_1")
		if asks := strings.Contains(want[len(want)-1], "--"); strings.Contains(tail, "answer it: ") != asks {
			t.Errorf("%s:\n%s", waiting, tail)
		}
		if _, tail, _ := over.wharf(t, "task", "tail", "task_1"); strings.Contains(tail, "answer it: ") {
			t.Errorf("%s: it waits no more:\n%s", waiting, tail)
		}
	}
}

// A record of a Go plugin from before modules were rewritten, which initialized itself
// in each Task, is followed by the plugin that ships, as long as that is the same.
func TestGoRecordOfBefore(t *testing.T) {
	record, err := readRecord(filepath.Join("testdata", "before", "digest.json"))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join("testdata", "before", "digest.wasm.zst"))
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	wasm, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: t.TempDir(), CacheKey: kept.NewKey()})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close(context.Background())
	module, err := runtime.Compile(t.Context(), wasm)
	if err != nil {
		t.Fatal(err)
	}
	result, err := replay.Run(t.Context(), module, record, replay.Options{Rewriter: runtime.Rewriter()})
	if err != nil || result.Divergence != nil || len(result.Entries) != len(record.Entries) || result.End.Gas != 0 {
		t.Errorf("%+v, %v", result, err)
	}
}
