package openharness_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

const filesAt = "/wharf/files"

func (n *node) upload(t testing.TB, path string, parts ...part) answer {
	t.Helper()
	body, typed := formOf(t, parts...)
	return n.do(t, http.MethodPost, path, body, typed)
}

func raw() option { return header("Content-Type", "application/octet-stream") }

// put writes a file.
func (n *node) put(t testing.TB, p, content string) {
	t.Helper()
	if a := n.do(t, http.MethodPut, filesAt+"/"+p, content, raw()); a.status != 200 {
		a.want(201)
	}
}

// paths returns those of a list, in order.
func paths(t testing.TB, a answer) (all []string) {
	t.Helper()
	var list struct {
		Files []struct {
			Path string `json:"path"`
			Type string `json:"type"`
		} `json:"files"`
	}
	a.want(200).into(&list)
	for _, f := range list.Files {
		if f.Type == "directory" {
			f.Path += "/"
		}
		all = append(all, f.Path)
	}
	return all
}

// A file is written, read, saved and removed by its path, whatever is in it.
func TestFiles(t *testing.T) {
	n := newNode(t, nil)
	made := n.do(t, http.MethodPut, filesAt+"/notes/a.md", "# hi", raw()).want(201)
	if made.get("created") != true || made.text("file.path") != "notes/a.md" || made.text("file.name") != "a.md" || made.text("file.type") != "file" ||
		made.text("file.mime_type") != "text/markdown" || made.get("file.size_bytes") != 4.0 {
		t.Errorf("%s", made.body)
	}
	if again := n.do(t, http.MethodPut, filesAt+"/notes/a.md", "# hello", raw()).want(200); again.get("created") != false {
		t.Errorf("%s", again.body)
	}
	read := n.do(t, http.MethodGet, filesAt+"/notes/a.md", nil).want(200)
	if string(read.body) != "# hello" || read.header.Get("Content-Type") != "text/markdown" || read.header.Get("Content-Disposition") != "" ||
		read.header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(read.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%s %v", read.body, read.header)
	}
	saved := n.do(t, http.MethodGet, filesAt+"/notes/a.md/download", nil).want(200)
	if string(saved.body) != "# hello" || saved.header.Get("Content-Disposition") != `attachment; filename=a.md` {
		t.Errorf("%s %v", saved.body, saved.header)
	}
	n.put(t, "notes/download", "a name")
	if a := n.do(t, http.MethodGet, filesAt+"/notes/download", nil).want(200); string(a.body) != "a name" {
		t.Errorf("%s", a.body)
	}
	for _, name := range []string{"search", "upload", "mkdir", "with space", "é", "100%"} {
		n.put(t, strings.NewReplacer(" ", "%20", "%", "%25").Replace(name), name)
		if a := n.do(t, http.MethodGet, filesAt+"/"+strings.NewReplacer(" ", "%20", "%", "%25").Replace(name), nil).want(200); string(a.body) != name {
			t.Errorf("%s holds %s", name, a.body)
		}
	}
	if head := n.at(t, http.MethodHead, "/v1/harnesses"+filesAt+"/notes/a.md", nil).want(200); len(head.body) != 0 || head.header.Get("Content-Length") != "7" {
		t.Errorf("%q %v", head.body, head.header)
	}
	n.do(t, http.MethodPut, filesAt+"/notes/a.md", "x", raw(), header("If-None-Match", "*")).fails(409, "CONFLICT")
	n.do(t, http.MethodDelete, filesAt+"/notes/a.md", nil).want(204)
	n.do(t, http.MethodGet, filesAt+"/notes/a.md", nil).fails(404, "NOT_FOUND")
	n.do(t, http.MethodDelete, filesAt+"/notes/a.md", nil).fails(404, "NOT_FOUND")
	n.do(t, http.MethodGet, filesAt+"/notes", nil).fails(404, "NOT_FOUND")
	if a := n.at(t, http.MethodGet, "/harnesses"+filesAt+"/search", nil).want(200); string(a.body) != "search" {
		t.Errorf("without the version: %s", a.body)
	}
}

// JSON whose only member is a file's content is unwrapped; any other is the content.
func TestFilesWithinJSON(t *testing.T) {
	n := startNode(t, crashtest.NewDisk(), nil, gateway.Config{BodyLimit: 1 << 20})
	for body, want := range map[string]string{
		`{"content":"hé\n"}`:                      "hé\n",
		` { "content_base64" : "AAE=" } `:         "\x00\x01",
		`{"content":"a","content_base64":"AAE="}`: `{"content":"a","content_base64":"AAE="}`,
		`{"content":"a","more":1}`:                `{"content":"a","more":1}`,
		`{"content":5}`:                           `{"content":5}`,
		`{"content":"a"`:                          `{"content":"a"`,
		`{"contents":"a"}`:                        `{"contents":"a"}`,
		`[1]`:                                     `[1]`,
		``:                                        ``,
		`{"content":"` + strings.Repeat("x", 2000) + `"}`: strings.Repeat("x", 2000),
		`{"a":"` + strings.Repeat("x", 2000) + `"}`:       `{"a":"` + strings.Repeat("x", 2000) + `"}`,
	} {
		if a := n.do(t, http.MethodPut, filesAt+"/f.json", body); a.status > 201 {
			a.want(201)
		}
		if got := n.do(t, http.MethodGet, filesAt+"/f.json", nil).want(200).body; string(got) != want {
			t.Errorf("%.100s is kept as %.100s", body, got)
		}
	}
	n.do(t, http.MethodPut, filesAt+"/f.json", `{"content_base64":"-"}`).fails(400, "VALIDATION_ERROR")
	n.do(t, http.MethodPut, filesAt+"/f.json", `{"content":"same"}`, raw()).want(200)
	if got := n.do(t, http.MethodGet, filesAt+"/f.json", nil).want(200).body; string(got) != `{"content":"same"}` {
		t.Errorf("another media type: %s", got)
	}
	n.do(t, http.MethodPut, filesAt+"/f.json", `{"content":"`+strings.Repeat("x", 1<<20)+`"}`).fails(413, "PAYLOAD_TOO_LARGE")
}

// Folders are made with those above them, stay when they are empty, and go with what is in them only
// when that is asked for.
func TestFolders(t *testing.T) {
	n := newNode(t, nil)
	if got := paths(t, n.do(t, http.MethodGet, filesAt, nil)); got == nil || len(got) != 0 {
		if len(got) != 0 {
			t.Errorf("an empty harness has %q", got)
		}
	}
	a := n.do(t, http.MethodPost, filesAt+"/mkdir", map[string]string{"path": "/docs/new/"}).want(201)
	if a.get("created") != true || a.text("file.type") != "directory" || a.text("file.path") != "docs/new" || a.get("file.size_bytes") != nil {
		t.Errorf("%s", a.body)
	}
	if a := n.do(t, http.MethodPost, filesAt+"/mkdir", map[string]string{"path": "docs"}).want(200); a.get("created") != false {
		t.Errorf("%s", a.body)
	}
	n.put(t, "docs/a", "x")
	for query, want := range map[string][]string{
		"":                                 {"docs/"},
		"?path=/docs":                      {"docs/a", "docs/new/"},
		"?path=docs/":                      {"docs/a", "docs/new/"},
		"?recursive=true":                  {"docs/", "docs/a", "docs/new/"},
		"?recursive=true&limit=1&offset=1": {"docs/a"},
		"?path=/docs/new":                  nil,
	} {
		if got := paths(t, n.do(t, http.MethodGet, filesAt+query, nil)); !slices.Equal(got, want) {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
	}
	if a := n.do(t, http.MethodGet, filesAt+"?path=docs/", nil); a.text("path") != "docs" || n.do(t, http.MethodGet, filesAt, nil).text("path") != "/" {
		t.Errorf("%s", a.body)
	}
	n.do(t, http.MethodDelete, filesAt+"/docs", nil).fails(409, "CONFLICT")
	n.do(t, http.MethodDelete, filesAt+"/docs?recursive=maybe", nil).fails(400, "VALIDATION_ERROR")
	n.do(t, http.MethodDelete, filesAt+"/docs/new", nil).want(204)
	n.do(t, http.MethodDelete, filesAt+"/docs?recursive=true", nil).want(204)
	if got := paths(t, n.do(t, http.MethodGet, filesAt+"?recursive=true", nil)); len(got) != 0 {
		t.Errorf("%q is left", got)
	}
	n.do(t, http.MethodGet, filesAt+"?path=none", nil).fails(404, "NOT_FOUND")
	n.put(t, "f", "x")
	n.do(t, http.MethodPost, filesAt+"/mkdir", map[string]string{"path": "f/x"}).fails(400, "VALIDATION_ERROR")
}

// Files are found by name, by content, and by both, as many as are asked for.
func TestSearchFiles(t *testing.T) {
	n := newNode(t, nil)
	n.put(t, "src/a.go", "package a\n// TODO one\n// TODO two")
	n.put(t, "src/b.go", "package b")
	n.put(t, "readme.md", "TODO")
	search := func(body map[string]any) answer {
		t.Helper()
		return n.do(t, http.MethodPost, filesAt+"/search", body)
	}
	a := search(map[string]any{"glob": "**/*.go", "grep": "TODO (one|two)"}).want(200)
	if a.text("matches.0.file.path") != "src/a.go" || a.get("matches.0.line_matches.1.line_number") != 3.0 || a.text("matches.0.line_matches.1.content") != "// TODO two" ||
		a.get("matches.1") != nil || a.get("truncated") != false {
		t.Errorf("%s", a.body)
	}
	if a := search(map[string]any{"glob": "*.go", "max_results": 1}).want(200); a.get("matches.1") != nil || a.get("truncated") != true || a.get("matches.0.line_matches") != nil {
		t.Errorf("%s", a.body)
	}
	if a := search(map[string]any{"grep": "TODO", "path": "/src"}).want(200); a.get("matches.1") != nil || a.text("matches.0.file.name") != "a.go" {
		t.Errorf("%s", a.body)
	}
	search(map[string]any{"grep": "x", "max_results": 1000}).want(200)
	for name, body := range map[string]map[string]any{
		"nothing": {}, "no regex": {"grep": "("}, "a regex without an end": {"grep": "((a{30}){30}){30}"}, "no glob": {"glob": "a["}, "too many": {"grep": "x", "max_results": 1001},
		"too few": {"grep": "x", "max_results": 0}, "long": {"glob": strings.Repeat("*", 2000)}, "outside": {"glob": "*", "path": "../x"}, "another type": {"glob": 5},
	} {
		t.Log(name)
		search(body).fails(400, "VALIDATION_ERROR")
	}
	search(map[string]any{"glob": "*", "path": "none"}).fails(404, "NOT_FOUND")
}

// Files of forms are written whatever the order of the fields, under the names that they have.
func TestUploads(t *testing.T) {
	n := newNode(t, nil)
	one := part{"file", "ignored.txt", "hello"}
	a := n.upload(t, filesAt+"/upload", one, part{"path", "", "docs/a.txt"}).want(201)
	if a.get("created") != true || a.text("file.path") != "docs/a.txt" {
		t.Errorf("%s", a.body)
	}
	n.upload(t, filesAt+"/upload", part{"path", "", "docs/a.txt"}, one).fails(409, "CONFLICT")
	if a := n.upload(t, filesAt+"/upload", one, part{"overwrite", "", "true"}, part{"path", "", "/docs/a.txt"}).want(200); a.get("created") != false {
		t.Errorf("%s", a.body)
	}
	if a := n.upload(t, filesAt+"/upload", one, part{"path", "", "docs/"}).want(201); a.text("file.path") != "docs/ignored.txt" {
		t.Errorf("%s", a.body)
	}
	for name, parts := range map[string][]part{
		"no path": {one}, "no file": {{"path", "", "a"}}, "two files": {one, one, {"path", "", "a"}}, "outside": {one, {"path", "", "../a"}},
		"two paths": {one, {"path", "", "a"}, {"path", "", "b"}}, "no truth": {one, {"path", "", "a"}, {"overwrite", "", "perhaps"}},
	} {
		t.Log(name)
		n.upload(t, filesAt+"/upload", parts...).fails(400, "VALIDATION_ERROR")
	}
	n.do(t, http.MethodPost, filesAt+"/upload", `{}`).fails(415, "UNSUPPORTED_MEDIA_TYPE")
	n.do(t, http.MethodPost, filesAt+"/upload", "--x\r\ncut off", header("Content-Type", "multipart/form-data; boundary=x")).fails(400, "VALIDATION_ERROR")
}

// A batch keeps the folders of its names, and says what became of each file.
func TestUploadBatches(t *testing.T) {
	n := newNode(t, nil)
	n.put(t, "base/there", "old")
	files := []part{{"files", "a.txt", "1"}, {"files", "deep/er/b.txt", "2"}, {"files", "there", "new"}, {"files", "../out", "3"}, {"files", "a.txt/x", "4"}, {"base_path", "", "/base/"}}
	a := n.upload(t, filesAt+"/upload-batch", files...).want(200)
	if a.text("uploaded.0.path") != "base/a.txt" || a.text("uploaded.1.path") != "base/deep/er/b.txt" || a.get("uploaded.2") != nil ||
		a.text("skipped.0") != "base/there" || a.text("errors.0.path") != "base/../out" || a.text("errors.1.path") != "base/a.txt/x" || a.get("errors.2") != nil {
		t.Errorf("%s", a.body)
	}
	a = n.upload(t, filesAt+"/upload-batch", append(files, part{"overwrite", "", "true"})...).want(200)
	if a.text("uploaded.2.path") != "base/there" || a.get("skipped.0") != nil {
		t.Errorf("%s", a.body)
	}
	n.upload(t, filesAt+"/upload-batch", part{"base_path", "", "x"}).fails(400, "VALIDATION_ERROR")
	var many []part
	for i := range api.MaxFilesWritten + 1 {
		many = append(many, part{"files", fmt.Sprint("many/", i), ""})
	}
	n.upload(t, filesAt+"/upload-batch", many...).fails(413, "PAYLOAD_TOO_LARGE")
	if got := paths(t, n.do(t, http.MethodGet, filesAt, nil)); slices.Contains(got, "many/") {
		t.Error("some of too many files are kept")
	}
	n.upload(t, filesAt+"/upload-batch", many[1:]...).want(200)
}

// A batch of downloads is a zip with the paths that were asked for.
func TestDownloadBatches(t *testing.T) {
	n := newNode(t, nil)
	n.put(t, "a/b", "1")
	n.put(t, "c", "2")
	a := n.do(t, http.MethodPost, filesAt+"/download-batch", map[string][]string{"paths": {"/a", "c"}}).want(200)
	in, err := zip.NewReader(bytes.NewReader(a.body), int64(len(a.body)))
	if err != nil || len(in.File) != 3 || in.File[1].Name != "a/b" || in.File[2].Name != "c" || a.header.Get("Content-Type") != "application/zip" {
		t.Fatalf("%v %v", err, a.header)
	}
	all := n.do(t, http.MethodPost, filesAt+"/download-batch", map[string][]string{"paths": {"/"}}).want(200)
	if in, err := zip.NewReader(bytes.NewReader(all.body), int64(len(all.body))); err != nil || len(in.File) != 3 {
		t.Errorf("all files: %v", err)
	}
	post := func(paths []string) answer {
		return n.do(t, http.MethodPost, filesAt+"/download-batch", map[string][]string{"paths": paths})
	}
	post([]string{"c", "none"}).fails(404, "NOT_FOUND")
	post([]string{"../c"}).fails(400, "VALIDATION_ERROR")
	post([]string{}).fails(400, "VALIDATION_ERROR")
	same := make([]string, api.MaxFilesPacked+1)
	for i := range same {
		same[i] = "c"
	}
	post(same).fails(400, "VALIDATION_ERROR")
	post(same[1:]).want(200)
}

// bare sends a path as it is, which a client of Go's would tidy, and returns the status.
func (n *node) bare(t testing.TB, method, path string) int {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", method, path, enginetest.RootKey)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

// Paths that could mean another file to somebody are refused, and nothing is kept of them.
func TestFilePaths(t *testing.T) {
	n := newNode(t, nil)
	n.put(t, "a/b", "x")
	for _, p := range []string{"a%2Fb", "a%2fb", "a%5Cb", "a\\b", "%2e%2e/x", "a/%2E%2E/x", "a%00b", "a//b", "a/", "a/%2E/b", ".wharf-x", "c:x", strings.Repeat("n", 201), strings.Repeat("d/", 32) + "f", "%ff"} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
			a := n.bare(t, method, "/v1/harnesses"+filesAt+"/"+p)
			if method == http.MethodDelete && p == "a/" {
				continue // a folder may be spelled so
			}
			if a != 400 {
				t.Errorf("%s %q is answered %d", method, p, a)
			}
		}
	}
	if got := paths(t, n.do(t, http.MethodGet, filesAt+"?recursive=true", nil)); !slices.Equal(got, []string{"a/", "a/b"}) {
		t.Errorf("it has %q", got)
	}
}

// Nobody reaches files without the right to: each route, and each wrong kind of key.
func TestFilesAreKept(t *testing.T) {
	n := newNode(t, nil)
	n.put(t, "a", "secret")
	elsewhere, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "elsewhere", Root: "file:///elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	bound, stranger := n.key(t, []string{"*"}, elsewhere.ID), n.stranger(t)
	readers, writers := n.key(t, []string{"workspaces:read"}), n.key(t, []string{"workspaces:write"})
	body, typed := formOf(t, part{"file", "f", "x"}, part{"path", "", "f"})
	for _, route := range []struct {
		method, path string
		body         any
		typed        option
		writes       bool
	}{
		{http.MethodGet, "", nil, raw(), false}, {http.MethodGet, "/a", nil, raw(), false}, {http.MethodGet, "/a/download", nil, raw(), false},
		{http.MethodPut, "/b", "x", raw(), true}, {http.MethodDelete, "/none", nil, raw(), true},
		{http.MethodPost, "/search", `{"glob":"*"}`, header("Content-Type", "application/json"), false},
		{http.MethodPost, "/upload", body, typed, true}, {http.MethodPost, "/upload-batch", body, typed, true},
		{http.MethodPost, "/download-batch", `{"paths":["a"]}`, header("Content-Type", "application/json"), false},
		{http.MethodPost, "/mkdir", `{"path":"m"}`, header("Content-Type", "application/json"), true},
	} {
		do := func(key string) answer {
			return n.do(t, route.method, filesAt+route.path, route.body, route.typed, by(key))
		}
		do("").fails(401, "UNAUTHORIZED")
		do(bound).fails(404, "NOT_FOUND")
		wrong, right := writers, readers
		if route.writes {
			wrong, right = readers, writers
		}
		do(wrong).fails(403, "FORBIDDEN")
		if a := do(right); a.status == 403 || a.status == 401 {
			t.Errorf("%s %s: %d %s", route.method, route.path, a.status, a.body)
		}
		if a := do(stranger); strings.Contains(string(a.body), "secret") { // it has a harness of that name of its own
			t.Errorf("another tenant reads %s", a.body)
		}
		n.do(t, route.method, "/none/files"+route.path, route.body, route.typed).fails(404, "NOT_FOUND")
	}
	n.do(t, http.MethodGet, filesAt+"/a", nil, by(stranger)).fails(404, "NOT_FOUND")
}

// zeros is a body that nobody holds.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// transfer sends and receives what no test should hold, and returns the status and how much came back.
func (n *node) transfer(t testing.TB, method, path string, body io.Reader) (status int, got int64) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, n.url+"/v1/harnesses"+filesAt+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+enginetest.RootKey)
	if method == http.MethodPut {
		r.Header.Set("Content-Type", "application/octet-stream")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err = io.Copy(io.Discard, res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, got
}

// A file of 100 MiB goes in and out, alone and in a zip, and is nowhere in memory as a whole. One
// byte more does not, and nothing of that stays.
func TestLargeFiles(t *testing.T) {
	n := newNode(t, nil)
	const most = 100 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if status, _ := n.transfer(t, http.MethodPut, "/large", io.LimitReader(zeros{}, most+1)); status != 413 {
		t.Errorf("one byte too many is answered %d", status)
	}
	if status, _ := n.transfer(t, http.MethodGet, "/large", nil); status != 404 {
		t.Errorf("what was too large is answered %d", status)
	}
	if status, _ := n.transfer(t, http.MethodPut, "/large", io.LimitReader(zeros{}, most)); status != 201 {
		t.Fatalf("it is answered %d", status)
	}
	if status, got := n.transfer(t, http.MethodGet, "/large", nil); status != 200 || got != most {
		t.Errorf("%d bytes come back (%d)", got, status)
	}
	if status, got := n.transfer(t, http.MethodPost, "/download-batch", strings.NewReader(`{"paths":["large"]}`)); status != 200 || got == 0 || got > 1<<20 {
		t.Errorf("the zip has %d bytes (%d)", got, status)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > most/2 {
		t.Errorf("%d bytes of memory were taken on the way", taken)
	}
}

// A file is read in parts.
func TestPartsOfFiles(t *testing.T) {
	n := newNode(t, nil)
	n.do(t, "PUT", "/wharf/files/a.txt", "0123456789", header("Content-Type", "text/plain")).want(201)
	n.do(t, "PUT", "/wharf/files/none.txt", "", header("Content-Type", "text/plain")).want(201)
	tag := n.do(t, "GET", "/wharf/files/a.txt", nil).want(200).header.Get("ETag")
	for wanted, want := range map[string]struct {
		status     int
		body, part string
	}{
		"bytes=0-0": {206, "0", "bytes 0-0/10"}, "bytes=2-4": {206, "234", "bytes 2-4/10"}, "bytes=7-": {206, "789", "bytes 7-9/10"}, "bytes=-2": {206, "89", "bytes 8-9/10"},
		"bytes=0-99": {206, "0123456789", "bytes 0-9/10"}, "bytes=-99": {206, "0123456789", "bytes 0-9/10"},
		"bytes=10-": {416, "", "bytes */10"}, "bytes=-0": {416, "", "bytes */10"}, "bytes=99-100": {416, "", "bytes */10"},
		"bytes=1-2,4-5": {200, "0123456789", ""}, "bytes=4-2": {200, "0123456789", ""}, "lines=1-2": {200, "0123456789", ""}, "bytes=a-b": {200, "0123456789", ""}, "": {200, "0123456789", ""},
	} {
		for _, path := range []string{"/wharf/files/a.txt", "/wharf/files/a.txt/download"} {
			a := n.do(t, "GET", path, nil, header("Range", wanted))
			if a.want(want.status); a.header.Get("Content-Range") != want.part {
				t.Errorf("%s: the part is %q", wanted, a.header.Get("Content-Range"))
			}
			if want.status == 416 {
				a.fails(416, "VALIDATION_ERROR")
			} else if string(a.body) != want.body || a.header.Get("ETag") != tag || a.header.Get("Accept-Ranges") != "bytes" {
				t.Errorf("%s: %q, %v", wanted, a.body, a.header)
			}
		}
	}
	if a := n.do(t, "GET", "/wharf/files/a.txt", nil, header("Range", "bytes=0-1"), header("If-Range", tag)).want(206); string(a.body) != "01" {
		t.Errorf("%q", a.body)
	}
	n.do(t, "GET", "/wharf/files/a.txt", nil, header("Range", "bytes=0-1"), header("If-Range", `"other"`)).want(200)
	n.do(t, "GET", "/wharf/files/none.txt", nil, header("Range", "bytes=0-")).want(416)
}
