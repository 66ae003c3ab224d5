package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/node"
)

// kinds are the kinds of files of a data folder, by patterns of their names.
var kinds = []struct{ kind, pattern string }{
	{"marker of the manifest", `^db/marker\.manifest\.`},
	{"marker of the format", `^db/marker\.format-version\.`},
	{"manifest", `^db/MANIFEST-\d+$`},
	{"options", `^db/OPTIONS-\d+$`},
	{"write-ahead log", `^db/\d+\.log$`},
	{"table", `^db/\d+\.sst$`},
	{"lock of the database", `^db/LOCK$`},
	{"HEAD", `^HEAD$`},
	{"FORMAT", `^FORMAT$`},
	{"LOCK", `^LOCK$`},
	{"blob", `^blobs/[0-9a-f]{2}/[0-9a-f]{64}$`},
	{"unfinished blob", `^blobs/\w{3}/\d+$`},
	{"compiled module", `^modules/compiled`},
	{"prepared module", `^modules/prepared`},
	{"signing keys", `^keys/signing-keys\.json$`},
	{"keys of access tokens", `^keys/token-keys\.json$`},
	{"key of the vaults", `^keys/vault\.age$`},
	{"key of compiled plugins", `^keys/cache\.key$`},
	{"key of requests", `^vaults/blind\.age$`},
	{"value of a secret", `^vaults/[0-9a-f]{32}/\d+\.age$`},
	{"file of a workspace", `^workspaces/\d+/ws_\w+/`},
}

// damages are what happens to a file.
var damages = []struct {
	name string
	do   func(content []byte) []byte // nil removes
}{
	{"removed", nil},
	{"emptied", func([]byte) []byte { return []byte{} }},
	{"cut", func(b []byte) []byte { return b[:len(b)/2] }},
	{"flipped", func(b []byte) []byte {
		at := len(b) / 2
		if bytes.HasPrefix(b, []byte("age-encryption.org")) {
			at = len(b) - 8 // beyond the header: damage there looks like another key
		}
		b[at] ^= 0x5a
		return b
	}},
}

// TestEachKindOfFile damages each kind of file of a data folder in each way, and has each
// command look at it. testdata/kinds.txt says what each does:
//
//	refused     it ends with an error that names the file and a way on, and changes nothing
//	refused late  the same, but for a folder that was opened: tables are read when what they
//	            hold is needed, for reading all takes minutes
//	told        the same, and it has done what it could: doctor has looked at everything,
//	            a copy that restore refuses is there
//	noted       it names the file and ends well
//	right       it ends well, for nothing that anybody needs is lost
//	starts      the node starts, answers everything, and takes Tasks
//	starts, N   so it does, and N reads get an error; all others get what they should
func TestEachKindOfFile(t *testing.T) {
	k := newKinds(t)
	var all strings.Builder
	for _, kind := range kinds {
		name := k.pick(kind.kind)
		for _, d := range damages {
			if content := k.content(name); len(content) == 0 && d.name != "removed" {
				continue // it is always empty
			}
			fmt.Fprintf(&all, "%s, %s: %s\n", kind.kind, d.name, k.row(name, d.do))
		}
	}
	golden := filepath.Join("testdata", "kinds.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(all.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
			t.Fatalf("line %d differs; got:\n%s", i+1, all.String())
		}
	}
}

// kindsTest is a sound folder, of which copies are damaged.
type kindsTest struct {
	t       *testing.T
	data    string // the sound folder
	session string // in which Tasks can be submitted
	reads   []string
	want    map[string]string // what each of the reads got
	n       int
}

// newKinds makes a folder by having a node do a little of everything.
func newKinds(t *testing.T) *kindsTest {
	k := &kindsTest{t: t, data: filepath.Join(t.TempDir(), "data"), want: map[string]string{}}
	do := func(n *running, method, path, media, body, find string) string {
		t.Helper()
		code, answer := n.ask(method, path, media, body)
		if code >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, code, answer)
		}
		return regexp.MustCompile(find).FindString(answer)
	}
	n := k.mustStart(k.data)
	workspace := do(n, "GET", "/v1/workspaces", "", "", `ws_\w+`)
	session := do(n, "POST", "/v1/sessions", "application/json", `{"workspace_id":"`+workspace+`"}`, `sess\w*_\w+`)
	k.session = session
	submit := func(n *running, body string) string {
		return do(n, "POST", "/v1/sessions/"+session+"/tasks", "application/json", body, `task_\w+`)
	}
	for i, text := range []string{"one", "two"} {
		artifact := do(n, "POST", "/v1/artifacts", "text/plain", strings.Repeat(text, 30_000), `art_\w+`)
		k.reads = append(k.reads, "/v1/artifacts/"+artifact+"/content")
		file := fmt.Sprintf("/v1/workspaces/%s/files?path=notes/%d.txt", workspace, i)
		do(n, "PUT", file, "text/plain", "A note: "+text, "")
		k.reads = append(k.reads, file)
	}
	large := submit(n, `{"persona_id":"persona_calls","input":{"program":[{"call":"random","bytes":60000}]}}`)
	k.reads = append(k.reads, "/v1/tasks/"+large, "/v1/tasks/"+large+"/events", "/v1/tasks?limit=200", "/v1/tasks/"+large+"/receipts", "/v1/sessions?limit=200")
	v := do(n, "POST", "/v1/vaults", "application/json", `{"provider":"local","capabilities":["read","write"]}`, `vault_\w+`)
	secret := `{"value":"hunter2hunter2"}`
	do(n, "PUT", "/wharf/v1/vaults/"+v+"/secrets/token", "application/json", secret, "")
	connector := do(n, "POST", "/v1/connectors", "application/json", `{"provider":"generic","name":"orders","target_persona_id":"persona_echo"}`, `conn_\w+`)
	do(n, "POST", "/v1/connectors/"+connector+"/deliveries", "application/json", `{"order":7}`, "")
	n.stop()
	n = k.mustStart(k.data) // makes tables of what the log held
	submit(n, `{"persona_id":"persona_echo","input":{"text":"last"}}`)
	for _, path := range k.reads {
		_, k.want[path] = n.ask("GET", path, "", "")
	}
	killed := filepath.Join(t.TempDir(), "killed") // as a kill leaves it: what came last is in the log alone
	k.copyAtRest(killed)
	n.stop()
	k.data = killed
	upload := filepath.Join(k.data, "blobs", "tmp", "1")
	if err := os.WriteFile(upload, []byte("half of an upload"), 0o600); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	return k
}

// copyAtRest copies the folder while its node runs, and again if the node has acknowledged
// anything meanwhile, such as what the delivery means: damage to the end of a log that holds
// more than its HEAD vouches for goes unnoticed.
func (k *kindsTest) copyAtRest(to string) {
	k.t.Helper()
	for {
		before, err := os.ReadFile(filepath.Join(k.data, "HEAD"))
		if err == nil {
			err = copyFolder(k.data, to)
		}
		if err != nil {
			k.t.Fatal(err)
		}
		after, err := os.ReadFile(filepath.Join(k.data, "HEAD"))
		if err != nil {
			k.t.Fatal(err)
		}
		if bytes.Equal(before, after) {
			return
		}
		if err := os.RemoveAll(to); err != nil {
			k.t.Fatal(err)
		}
	}
}

// newest are the kinds of which the newest file is the one in use.
var newest = []string{"manifest", "options", "write-ahead log"}

// pick returns the largest file of a kind, or the newest, and fails the test for one of no kind.
func (k *kindsTest) pick(kind string) (picked string) {
	k.t.Helper()
	var size int64 = -1
	err := filepath.WalkDir(k.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(k.data, path)
		rel = filepath.ToSlash(rel)
		at := slices.IndexFunc(kinds, func(k struct{ kind, pattern string }) bool { return regexp.MustCompile(k.pattern).MatchString(rel) })
		if at < 0 {
			k.t.Fatalf("%s is of no kind that the table knows", rel)
		}
		info, err := d.Info()
		if err == nil && kinds[at].kind == kind && (info.Size() > size || slices.Contains(newest, kind)) {
			picked, size = rel, info.Size()
		}
		return err
	})
	if err != nil || picked == "" {
		k.t.Fatalf("there is no file of the kind %s: %v", kind, err)
	}
	return picked
}

func (k *kindsTest) content(name string) []byte {
	k.t.Helper()
	content, err := os.ReadFile(filepath.Join(k.data, filepath.FromSlash(name)))
	if err != nil {
		k.t.Fatal(err)
	}
	if strings.HasSuffix(name, ".log") {
		return bytes.TrimRight(content, "\x00") // it was grown ahead, and nothing is lost of what is not written yet
	}
	return content
}

// damaged returns a copy of the folder with one file damaged.
func (k *kindsTest) damaged(name string, do func([]byte) []byte) string {
	k.t.Helper()
	k.n++
	dir := filepath.Join(k.t.TempDir(), fmt.Sprint("copy", k.n))
	if err := copyFolder(k.data, dir); err != nil {
		k.t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	info, err := os.Stat(path)
	if err != nil {
		k.t.Fatal(err)
	}
	if do == nil {
		err = os.Remove(path)
	} else { // not in place: it may be a link
		err = errors.Join(os.Remove(path), os.WriteFile(path, do(k.content(name)), info.Mode()), os.Chtimes(path, info.ModTime(), info.ModTime()))
	}
	if err != nil {
		k.t.Fatal(err)
	}
	return dir
}

// copyFolder copies a folder of a stopped node with its modes and times. Compiled modules,
// which are large and never written again, are linked.
func copyFolder(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the node was still compiling
		}
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case strings.HasPrefix(rel, "modules") && strings.HasPrefix(d.Name(), "new-"):
			return nil
		case strings.HasPrefix(rel, "modules"):
			return os.Link(path, target)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(target, content, info.Mode()), os.Chtimes(target, info.ModTime(), info.ModTime()))
	})
}

// row says what each command does about one damaged file.
func (k *kindsTest) row(name string, do func([]byte) []byte) string {
	dir := k.damaged(name, do)
	var out []string
	say := func(command, what string) { out = append(out, command+" "+what) }
	aside := k.t.TempDir()
	defer os.RemoveAll(aside) // the copies of all rows would take gigabytes
	defer os.RemoveAll(dir)
	copied, restored := filepath.Join(aside, "copy"), filepath.Join(aside, "restored")
	before := sums(k.t, dir)
	untouched := func() bool { return maps.Equal(before, sums(k.t, dir)) }

	code, text := k.wharf("doctor", "--data", dir)
	say("doctor", k.verdict(code, text, name, untouched()))
	if strings.Contains(text, "events ") && code == exitFailed {
		out[0] = strings.Replace(out[0], "refused", "told", 1)
	}
	code, text = k.wharf("restore", "--from", dir, "--data", restored)
	say("restore", k.verdict(code, text, name, untouched()))
	if _, err := os.Stat(restored); (err == nil) != (code == exitOK) {
		say("restore", "FAULT: the folder is there, or is not")
	}
	code, text = k.wharf("backup", "--data", dir, copied)
	what := k.verdict(code, text, name, code == exitOK || untouched() || strings.Contains(text, "incomplete"))
	if _, err := os.Stat(copied); code != exitOK && err == nil {
		what = strings.Replace(what, "refused", "told", 1)
		if code, _ := k.wharf("restore", "--from", copied, "--data", restored+"2"); code == exitOK {
			what += " FAULT: the copy passes as whole"
		}
	}
	say("backup", what)

	dir = k.damaged(name, do)
	defer os.RemoveAll(dir)
	before = sums(k.t, dir)
	n, text := k.start(dir)
	if n == nil {
		say("serve", k.verdict(exitFailed, text, name, untouched()))
		return strings.Join(out, "; ")
	}
	say("serve", k.look(n))
	n.stop()
	return strings.Join(out, "; ")
}

// verdict says what a command did.
func (k *kindsTest) verdict(code int, text, name string, untouched bool) string {
	k.t.Helper()
	base := regexp.MustCompile(`^(marker\.[a-z-]+\.).*`).ReplaceAllString(filepath.Base(name), "$1")
	if strings.HasSuffix(name, ".log") {
		base = "db/*.log" // which of them is not known
	}
	named := strings.Contains(text, base)
	way := regexp.MustCompile(`(?m)^  try |[Pp]ut .*back|remove it|wharf doctor|may be removed|wharf restore|--lost`).MatchString(text)
	what := ""
	switch {
	case code == exitOK && !named:
		return "right"
	case code == exitOK:
		return "noted"
	case code != exitFailed:
		what = fmt.Sprint("FAULT: exit code ", code)
	case !untouched && strings.HasSuffix(name, ".sst") && named && way:
		return "refused late"
	case !untouched:
		what = "FAULT: it was written to"
	case !named:
		what = "FAULT: it is not named"
	case !way:
		what = "FAULT: there is no way on"
	case strings.Contains(text, "goroutine ") || strings.Contains(text, ".go:") || strings.Contains(text, "hintdetail"):
		what = "FAULT: it tells of the program's inside"
	default:
		return "refused"
	}
	k.t.Logf("%s: %s\n%s", name, what, text)
	return what
}

// look asks a node for everything, and has it do a Task.
func (k *kindsTest) look(n *running) string {
	k.t.Helper()
	failed, altered := 0, ""
	for _, path := range k.reads {
		code, text := n.ask("GET", path, "", "")
		switch {
		case code >= 500:
			failed++
			if !strings.Contains(text, `"message":"`) {
				return "FAULT: an error without a message: " + text
			}
			k.t.Logf("%s: %d %s", path, code, text)
		case code != http.StatusOK && !(code == http.StatusNotFound && strings.Contains(path, "/files")):
			return fmt.Sprint("FAULT: ", path, ": ", code, " ", text)
		case code == http.StatusOK && text != k.want[path] && strings.Contains(path, "/files"):
			altered = ", a file as it is on disk"
		case code == http.StatusOK && text != k.want[path] && !strings.Contains(path, "limit="):
			return fmt.Sprintf("FAULT: %s is not what it was: %.200q, %.200q", path, text, k.want[path])
		case code == http.StatusNotFound:
			failed++
		}
	}
	code, text := n.ask("POST", "/v1/sessions/"+k.session+"/tasks", "application/json", `{"persona_id":"persona_echo","input":{"text":"later"}}`)
	if code >= 300 || !strings.Contains(text, `"COMPLETED"`) {
		return fmt.Sprint("FAULT: a Task: ", code, " ", text)
	}
	if failed > 0 {
		return fmt.Sprintf("starts, %d", failed)
	}
	return "starts" + altered
}

// wharf runs a command and returns all that it prints.
func (k *kindsTest) wharf(args ...string) (code int, text string) {
	var out bytes.Buffer
	a := k.app(&out)
	return a.execute(k.t.Context(), args), out.String()
}

func (k *kindsTest) app(out io.Writer) *app {
	return &app{stdin: strings.NewReader(""), stdout: out, stderr: out, env: inThisProcess}
}

// running is a node in this process.
type running struct {
	t    *testing.T
	url  string
	stop func()
}

func (k *kindsTest) mustStart(data string) *running {
	k.t.Helper()
	n, text := k.start(data)
	if n == nil {
		k.t.Fatal(text)
	}
	return n
}

// start starts a node as "wharf serve" does, save that it compiles what Tasks need only.
// When it does not start, text is what the command says.
func (k *kindsTest) start(data string) (n *running, text string) {
	k.t.Helper()
	plugins, err := pluginFolder()
	if err != nil {
		k.t.Fatal(err)
	}
	eff, err := config.Defaults(map[string]string{"listen": "127.0.0.1:0", "data": data, "plugins.dir": plugins})
	if err != nil {
		k.t.Fatal(err)
	}
	var out bytes.Buffer
	started, err := node.Start(k.t.Context(), node.Options{Config: eff.Config, Version: "test", APIKey: testKey, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		a := k.app(&out)
		a.report(startAdvice(err))
		return nil, out.String()
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- started.Serve(ctx) }()
	return &running{t: k.t, url: started.URL(), stop: func() {
		cancel()
		if err := <-ended; err != nil {
			k.t.Logf("the node ended with: %v", err)
		}
	}}, ""
}

// ask makes a request, and waits for the end of a Task that it submits.
func (n *running) ask(method, path, media, body string) (code int, text string) {
	n.t.Helper()
	r, err := http.NewRequestWithContext(n.t.Context(), method, n.url+path, strings.NewReader(body))
	if err != nil {
		n.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testKey)
	r.Header.Set("Prefer", "wait=30")
	r.Header.Set("Harn-Agents-Protocol-Version", "agents-protocol-2026-04-25")
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	if method != "GET" {
		r.Header.Set("Idempotency-Key", fmt.Sprintf("%x", sha256.Sum256([]byte(path+body))))
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		n.t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return 599, `"message":"` + err.Error() // it was broken off, so that nobody takes it for whole
	}
	return answer.StatusCode, string(content)
}

// inThisProcess is an environment in which no command runs in a process of its own: this
// program is the tests'.
func inThisProcess(name string) string {
	if name == confinedEnv {
		return "1"
	}
	return ""
}
