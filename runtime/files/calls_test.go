package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// call makes a call of a Task's plugin. number is that of the call.
func (n *node) call(t testing.TB, number int, name string, request any) (answer string, err error) {
	t.Helper()
	plan, err := n.plan(t, number, name, request)
	if err != nil {
		return "", err
	}
	text, err := plan.Do(t.Context(), func(string) {})
	return string(text), err
}

func (n *node) plan(t testing.TB, number int, name string, request any) (provider.Plan, error) {
	t.Helper()
	text, ok := request.(string)
	if !ok {
		encoded, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		text = string(encoded)
	}
	return n.Performers()[name].Prepare(t.Context(), &provider.Call{Name: name, Request: []byte(text), Tenant: "tenant_test",
		WorkspaceID: workspace, SessionID: "sess_test", TaskID: "task_test", PersonaID: "persona_test", IdempotencyKey: fmt.Sprint("task_test-", number)})
}

// do makes a call that succeeds, and is recorded.
func (n *node) do(t testing.TB, number int, name string, request, answer any) {
	t.Helper()
	text, err := n.call(t, number, name, request)
	if err == nil && answer != nil {
		err = json.Unmarshal([]byte(text), answer)
	}
	plan, bad := n.plan(t, number, name, request)
	if bad == nil && plan.Forget != nil {
		bad = plan.Forget()
	}
	if err != nil || bad != nil {
		t.Fatal(name, request, err, bad)
	}
}

func (n *node) write(t testing.TB, p, text string) {
	t.Helper()
	if _, _, err := n.WriteFile(t.Context(), n.root, workspace, p, strings.NewReader(text), Condition{}); err != nil {
		t.Fatal(err)
	}
}

// wantFile checks what is in a file; "-" for no file.
func (n *node) wantFile(t testing.TB, p, want string) {
	t.Helper()
	_, got, err := n.read(t.Context(), n.root, workspace, p)
	if text := string(got); want == "-" && err == nil || want != "-" && text != want {
		t.Errorf("%s holds %q, %v; want %q", p, text, err, want)
	}
}

func wantRefused(t testing.TB, err error, status abi.CallStatus, code string) {
	t.Helper()
	if refused, ok := errors.AsType[*provider.Refusal](err); !ok || refused.Status != status || refused.Code != code {
		t.Errorf("got %v, want status %d and %s", err, status, code)
	}
}

// What a plugin writes it reads again, and clients read it too; ranges are as in any file.
func TestPluginsReadAndWrite(t *testing.T) {
	n, _ := newNode(t)
	var wrote abi.CallFileWriteAnswer
	n.do(t, 0, abi.CallFileWrite, abi.CallFileWriteRequest{Path: "a/b", Text: "hé\n"}, &wrote)
	n.wantFile(t, "a/b", "hé\n")
	if wrote.BeforeSHA256 != "" || wrote.Size != 4 {
		t.Errorf("%+v", wrote)
	}
	for _, test := range []struct {
		offset, length int64
		text, body     string
	}{{0, 0, "hé\n", ""}, {0, 1, "h", ""}, {1, 1, "", "\xc3"}, {1, 99, "é\n", ""}, {4, 1, "", ""}, {99, 1, "", ""}} {
		var got abi.CallFileReadAnswer
		n.do(t, 1, abi.CallFileRead, abi.CallFileReadRequest{Path: "a/b", Offset: test.offset, Length: test.length}, &got)
		if got.Text != test.text || string(got.Body) != test.body || got.Size != 4 || got.SHA256 != wrote.SHA256 || got.UpdatedAt.IsZero() {
			t.Errorf("%d+%d: %+v", test.offset, test.length, got)
		}
	}
	var again abi.CallFileWriteAnswer
	n.do(t, 2, abi.CallFileWrite, abi.CallFileWriteRequest{Path: "a/b", Body: []byte{0, 1}, Mode: abi.FileAppend, SHA256: wrote.SHA256}, &again)
	n.wantFile(t, "a/b", "hé\n\x00\x01")
	if again.BeforeSHA256 != wrote.SHA256 || again.Size != 6 {
		t.Errorf("%+v", again)
	}
	var removed abi.CallFileRemoveAnswer
	n.do(t, 3, abi.CallFileRemove, abi.CallFileRemoveRequest{Path: "a/b", SHA256: again.SHA256}, &removed)
	n.wantFile(t, "a/b", "-")
	if removed.BeforeSHA256 != again.SHA256 {
		t.Errorf("%+v", removed)
	}
	if used := n.room.bytes[ledger.Key{Tenant: 1, ID: workspace}]; used != 0 {
		t.Errorf("%d bytes are counted of nothing", used)
	}
	kinds := n.kinds(t)
	if want := []string{string(abi.EventFileWritten), string(abi.EventFileWritten), string(abi.EventFileRemoved)}; !slices.Equal(kinds[len(kinds)-3:], want) {
		t.Errorf("the log tells %v", kinds)
	}
	events, _, err := n.parts.Desk.Events(t.Context(), n.root, desk.Filter{WorkspaceID: workspace}, 0, 100)
	if last := events[len(events)-1].Frame; err != nil || last.TaskID != "task_test" || last.SessionID != "sess_test" || last.Actor != "persona_test" {
		t.Errorf("the log tells it of %+v, %v", last, err)
	}
}

// What cannot be done is an answer that the plugin can tell from others, and changes nothing.
func TestPluginsAreRefused(t *testing.T) {
	n, dir := newNode(t)
	n.write(t, "a", "x")
	n.write(t, "folder/f", "y")
	if err := os.WriteFile(filepath.Join(dir, "outside"), []byte("z"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../outside", filepath.Join(dir, "1", workspace, "link")); err != nil {
		t.Fatal(err)
	}
	type write = abi.CallFileWriteRequest
	other := strings.Repeat("0", 64)
	for name, test := range map[string]struct {
		call    string
		request any
		status  abi.CallStatus
		code    string
	}{
		"is there":          {abi.CallFileWrite, write{Path: "a", Mode: abi.FileCreate}, abi.CallInvalid, "conflict"},
		"is another":        {abi.CallFileWrite, write{Path: "a", SHA256: other}, abi.CallInvalid, "conflict"},
		"is none":           {abi.CallFileWrite, write{Path: "n", SHA256: other}, abi.CallInvalid, "conflict"},
		"removes another":   {abi.CallFileRemove, abi.CallFileRemoveRequest{Path: "a", SHA256: other}, abi.CallInvalid, "conflict"},
		"removes none":      {abi.CallFileRemove, abi.CallFileRemoveRequest{Path: "n"}, abi.CallNotFound, "resource_not_found"},
		"removes a folder":  {abi.CallFileRemove, abi.CallFileRemoveRequest{Path: "folder"}, abi.CallInvalid, "conflict"},
		"a folder's hash":   {abi.CallFileRemove, abi.CallFileRemoveRequest{Path: "folder", SHA256: other, Recursive: true}, abi.CallInvalid, "conflict"},
		"edits none":        {abi.CallFileEdit, abi.CallFileEditRequest{Path: "n", Old: "x"}, abi.CallNotFound, "resource_not_found"},
		"edits a folder":    {abi.CallFileEdit, abi.CallFileEditRequest{Path: "folder", Old: "x"}, abi.CallNotFound, "resource_not_found"},
		"edits another":     {abi.CallFileEdit, abi.CallFileEditRequest{Path: "a", Old: "x", SHA256: other}, abi.CallInvalid, "conflict"},
		"edits what is not": {abi.CallFileEdit, abi.CallFileEditRequest{Path: "a", Old: "X"}, abi.CallInvalid, "conflict"},
		"edits nothing":     {abi.CallFileEdit, abi.CallFileEditRequest{Path: "a", New: "x"}, abi.CallInvalid, "invalid_request"},
		"edits the same":    {abi.CallFileEdit, abi.CallFileEditRequest{Path: "a", Old: "x", New: "x"}, abi.CallInvalid, "invalid_request"},
		"edits it large":    {abi.CallFileEdit, abi.CallFileEditRequest{Path: "a", Old: "x", New: strings.Repeat("y", MaxBytes+1)}, abi.CallTooLarge, "payload_too_large"},
		"reads none":        {abi.CallFileRead, abi.CallFileReadRequest{Path: "n"}, abi.CallNotFound, "resource_not_found"},
		"reads a folder":    {abi.CallFileRead, abi.CallFileReadRequest{Path: "folder"}, abi.CallNotFound, "resource_not_found"},
		"reads a link":      {abi.CallFileRead, abi.CallFileReadRequest{Path: "link"}, abi.CallNotFound, "resource_not_found"},
		"reads backwards":   {abi.CallFileRead, abi.CallFileReadRequest{Path: "a", Offset: -1}, abi.CallInvalid, "invalid_request"},
		"over a folder":     {abi.CallFileWrite, write{Path: "folder"}, abi.CallInvalid, "invalid_request"},
		"below a file":      {abi.CallFileWrite, write{Path: "a/b"}, abi.CallInvalid, "invalid_request"},
		"two contents":      {abi.CallFileWrite, write{Path: "n", Text: "x", Body: []byte("y")}, abi.CallInvalid, "invalid_request"},
		"another mode":      {abi.CallFileWrite, write{Path: "n", Mode: "insert"}, abi.CallInvalid, "invalid_request"},
		"no hash":           {abi.CallFileWrite, write{Path: "n", SHA256: "abc"}, abi.CallInvalid, "invalid_request"},
		"created of some":   {abi.CallFileWrite, write{Path: "n", Mode: abi.FileCreate, SHA256: other}, abi.CallInvalid, "invalid_request"},
		"too large":         {abi.CallFileWrite, write{Path: "n", Body: make([]byte, MaxBytes+1)}, abi.CallTooLarge, "payload_too_large"},
		"malformed":         {abi.CallFileWrite, `{"path":`, abi.CallInvalid, "invalid_request"},
		"lists a file":      {abi.CallFileList, abi.CallFileListRequest{Path: "a"}, abi.CallNotFound, "resource_not_found"},
		"lists too many":    {abi.CallFileList, abi.CallFileListRequest{Limit: 1001}, abi.CallInvalid, "invalid_request"},
		"searches a file":   {abi.CallFileSearch, abi.CallFileSearchRequest{Path: "a"}, abi.CallNotFound, "resource_not_found"},
		"two searches":      {abi.CallFileSearch, abi.CallFileSearchRequest{Text: "a", Pattern: "b"}, abi.CallInvalid, "invalid_request"},
		"no pattern":        {abi.CallFileSearch, abi.CallFileSearchRequest{Pattern: "("}, abi.CallInvalid, "invalid_request"},
		"large pattern":     {abi.CallFileSearch, abi.CallFileSearchRequest{Pattern: "((a{30}){30}){30}"}, abi.CallInvalid, "invalid_request"},
		"no glob":           {abi.CallFileSearch, abi.CallFileSearchRequest{Glob: "a[/b"}, abi.CallInvalid, "invalid_request"},
		"no cursor":         {abi.CallFileSearch, abi.CallFileSearchRequest{After: "x"}, abi.CallInvalid, "invalid_request"},
	} {
		if answer, err := n.call(t, 1, test.call, test.request); err == nil {
			t.Errorf("%s: it was answered %s", name, answer)
		} else {
			t.Run(name, func(t *testing.T) { wantRefused(t, err, test.status, test.code) })
		}
	}
	for _, p := range []string{"", "/a", "../x", "a/../b", "a//b", "a\x00", `a\b`, "c:x", strings.Repeat("a", 300), ".wharf-call-x"} {
		for _, call := range []string{abi.CallFileRead, abi.CallFileWrite, abi.CallFileRemove, abi.CallFileEdit} {
			request := map[string]string{"path": p}
			if call == abi.CallFileEdit {
				request["old"] = "x"
			}
			_, err := n.call(t, 1, call, request)
			wantRefused(t, err, abi.CallInvalid, "invalid_request")
		}
	}
	n.wantFile(t, "a", "x")
	n.wantFile(t, "folder/f", "y")
	if left, err := filepath.Glob(filepath.Join(dir, "1", workspace, unfinished+"*")); err != nil || len(left) != 0 {
		t.Errorf("%v, %v are left", left, err)
	}
	n.room.bytes[ledger.Key{Tenant: 1, ID: workspace}] = maxWorkspaceBytes
	_, err := n.call(t, 1, abi.CallFileWrite, write{Path: "n"})
	wantRefused(t, err, abi.CallTooLarge, "payload_too_large")
	n.do(t, 2, abi.CallFileWrite, write{Path: "a", Text: "y"}, nil) // it takes no more than before
	n.wantFile(t, "a", "y")
}

// restart ends the node and begins another one over the same files.
func (n *node) restart() { n.Keeper = NewKeeper(n.parts) }

// A call that the node died in is made again, and has happened once: whether it had happened
// before or not, and whatever others have written since.
func TestCallsHappenOnceOverCrashes(t *testing.T) {
	appended := abi.CallFileWriteRequest{Path: "f", Text: "b", Mode: abi.FileAppend}
	for name, test := range map[string]struct {
		call    string
		request any
		after   string // its effect, on a file that holds "a"
	}{
		"append":     {abi.CallFileWrite, appended, "ab"},
		"replace":    {abi.CallFileWrite, abi.CallFileWriteRequest{Path: "f", Text: "b"}, "b"},
		"in place":   {abi.CallFileWrite, abi.CallFileWriteRequest{Path: "f", Text: "b", SHA256: hexOf("a")}, "b"},
		"the same":   {abi.CallFileWrite, abi.CallFileWriteRequest{Path: "f", Text: "a"}, "a"},
		"edit":       {abi.CallFileEdit, abi.CallFileEditRequest{Path: "f", Old: "a", New: "bb"}, "bb"},
		"remove":     {abi.CallFileRemove, abi.CallFileRemoveRequest{Path: "f"}, "-"},
		"remove one": {abi.CallFileRemove, abi.CallFileRemoveRequest{Path: "f", SHA256: hexOf("a")}, "-"},
	} {
		t.Run(name+" happened", func(t *testing.T) {
			n, _ := newNode(t)
			task(t, n, abi.TaskWorking)
			n.write(t, "f", "a")
			first, err := n.call(t, 7, test.call, test.request)
			if err != nil {
				t.Fatal(err)
			}
			n.restart()
			n.write(t, "other", "x")
			n.write(t, "f", "by another")
			n.restart() // and again, before it was made again
			again, err := n.call(t, 7, test.call, test.request)
			if err != nil || again != first {
				t.Errorf("it was answered %s, then %s, %v", first, again, err)
			}
			n.wantFile(t, "f", "by another")
		})
		t.Run(name+" happened, and was not confirmed", func(t *testing.T) {
			n, _ := newNode(t)
			task(t, n, abi.TaskWorking)
			n.write(t, "f", "a")
			first, err := n.call(t, 7, test.call, test.request)
			if err != nil {
				t.Fatal(err)
			}
			n.mark(t, 7, &mark{Task: "task_test", Path: "f", Before: hexOf("a"), After: hexOf(test.after), Size: int64(len(test.after)), Replaced: strings.Count(name, "edit")})
			n.unconfirm(t, 7)
			n.restart()
			if again, err := n.call(t, 7, test.call, test.request); err != nil || again != first {
				t.Errorf("it was answered %s, then %s, %v", first, again, err)
			}
			n.wantFile(t, "f", test.after)
		})
		t.Run(name+" did not happen", func(t *testing.T) {
			n, _ := newNode(t)
			task(t, n, abi.TaskWorking)
			n.write(t, "f", "a")
			n.mark(t, 7, &mark{Task: "task_test", Path: "f", Before: hexOf("a"), After: hexOf(test.after), Size: 1})
			n.restart()
			n.do(t, 7, test.call, test.request, nil)
			n.wantFile(t, "f", test.after)
		})
		t.Run(name+" may have happened", func(t *testing.T) {
			n, dir := newNode(t)
			task(t, n, abi.TaskWorking)
			n.write(t, "f", "a")
			n.mark(t, 7, &mark{Task: "task_test", Path: "f", Before: hexOf("a"), After: hexOf(test.after), Size: 1})
			if err := os.WriteFile(filepath.Join(dir, "1", workspace, "f"), []byte("by hand"), 0o600); err != nil {
				t.Fatal(err)
			}
			n.restart()
			for range 2 {
				_, err := n.call(t, 7, test.call, test.request)
				wantRefused(t, err, abi.CallIndeterminate, "indeterminate")
				n.restart()
			}
			n.wantFile(t, "f", "by hand")
		})
	}
}

// A mark that was not whole when the node died, and one of a Task that has ended, are gone
// with the next change.
func TestMarksGo(t *testing.T) {
	n, dir := newNode(t)
	n.write(t, "f", "a")
	n.mark(t, 1, &mark{Task: "task_test", Path: "f", Before: "", After: hexOf("a")})
	torn := filepath.Join(dir, "1", workspace, markOf(markBegun, "torn"))
	if err := os.WriteFile(torn, []byte(`{"task_`), 0o600); err != nil {
		t.Fatal(err)
	}
	task(t, n, abi.TaskCompleted)
	n.restart()
	n.write(t, "g", "b")
	if left, err := filepath.Glob(filepath.Join(dir, "1", workspace, unfinished+"*")); err != nil || len(left) != 0 {
		t.Errorf("%v, %v are left", left, err)
	}
}

// Tasks that write to one file at the same time lose nothing of one another.
func TestTasksShareAFile(t *testing.T) {
	n, _ := newNode(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			n.do(t, i, abi.CallFileWrite, abi.CallFileWriteRequest{Path: "log", Text: "x", Mode: abi.FileAppend}, nil)
		})
	}
	var created sync.Map
	for i := range 8 {
		all.Go(func() {
			if _, err := n.call(t, 100+i, abi.CallFileWrite, abi.CallFileWriteRequest{Path: "lock", Text: "x", Mode: abi.FileCreate}); err == nil {
				created.Store(i, true)
			}
		})
	}
	all.Wait()
	n.wantFile(t, "log", strings.Repeat("x", 16))
	count := 0
	created.Range(func(any, any) bool { count++; return true })
	if count != 1 {
		t.Errorf("%d Tasks have created the file", count)
	}
}

// mark leaves the mark of a call as a node would that dies before the change.
func (n *node) mark(t testing.TB, number int, m *mark) {
	t.Helper()
	at, err := n.clientsPlace(n.root, workspace, true)
	if err == nil {
		err = errors.Join(at.mark(fmt.Sprint("task_test-", number), m), at.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unconfirm takes away what says that a call has happened.
func (n *node) unconfirm(t testing.TB, number int) {
	t.Helper()
	at, err := n.clientsPlace(n.root, workspace, true)
	if err == nil {
		err = errors.Join(at.root.Remove(markOf(markMade, fmt.Sprint("task_test-", number))), at.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// task has the log state the Task that calls are of.
func task(t testing.TB, n *node, status abi.TaskStatus) {
	t.Helper()
	_, err := n.parts.Desk.Commit(n.root, "", workspace, nil, 0, ledger.Record{Kind: abi.EventTaskSubmitted, Object: abi.ObjectTask, ID: "task_test",
		Created: true, State: &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, "task_test", n.parts.Now(), nil), Status: status}})
	if err != nil {
		t.Fatal(err)
	}
}
