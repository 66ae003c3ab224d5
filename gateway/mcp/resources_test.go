package mcp_test

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// id returns the id of what was made.
func id(t testing.TB, made desk.Doc, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// workspace makes a Workspace.
func (n *node) workspace(t testing.TB) string {
	t.Helper()
	made, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "w", Root: "file:///w"})
	return id(t, made, err)
}

func (n *node) artifact(t testing.TB, workspace, media string, content []byte, visibility abi.Visibility) string {
	t.Helper()
	req := abi.RegisterArtifactRequest{Kind: abi.ArtifactFile, MimeType: media, Visibility: visibility, Name: "an artifact", WorkspaceID: workspace}
	made, err := n.RegisterArtifact(t.Context(), n.Root, nil, req, bytes.NewReader(content))
	return id(t, made, err)
}

func (n *node) file(t testing.TB, workspace, path, content string) {
	t.Helper()
	if _, _, err := n.WriteFile(t.Context(), n.Root, workspace, path, strings.NewReader(content), api.FileCondition{}); err != nil {
		t.Fatal(err)
	}
}

// task runs a Task and returns the id of its receipt.
func (n *node) task(t testing.TB, workspace, guest string) (receipt string) {
	t.Helper()
	made, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{Input: []byte(`{}`),
		Session: &abi.TaskSession{CreateSessionRequest: abi.CreateSessionRequest{WorkspaceID: workspace, PersonaID: "persona_" + guest}}})
	task := id(t, made, err)
	if _, err := n.WaitTask(t.Context(), n.Root, task); err != nil {
		t.Fatal(err)
	}
	all, err := n.TaskReceipts(t.Context(), n.Root, task)
	if err != nil || len(all) != 1 {
		t.Fatal(len(all), err)
	}
	return all[0].ID
}

// skillFiles are those of a skill.
var skillFiles = map[string]string{
	"SKILL.md":            "---\nname: pdf-forms\ndescription: Fills in PDF forms.\nversion: 1.0.0\nmetadata:\n  author: somebody\n---\nRead references/FORMS.md.\n",
	"references/FORMS.md": "About forms.\n",
	"lib/fill.py":         "print('filled')\n",
	"assets/logo.png":     "\x89PNG\r\n\x1a\n\x00\x01",
}

func treeOf(t testing.TB, files map[string]string) *api.SkillFiles {
	t.Helper()
	tree, err := api.SkillTree(func(yield func(api.SkillFile, error) bool) {
		for _, path := range slices.Sorted(maps.Keys(files)) {
			if !yield(api.SkillFile{Path: path, Content: strings.NewReader(files[path])}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func (n *node) installSkill(t testing.TB, workspace string, files map[string]string) string {
	t.Helper()
	made, err := n.InstallSkillBundle(t.Context(), n.Root, nil, abi.InstallSkillBundleRequest{WorkspaceID: workspace}, treeOf(t, files))
	return id(t, made, err)
}

// all returns every resource of the list.
func all(t testing.TB, s *sdk.ClientSession) (found []*sdk.Resource) {
	t.Helper()
	for r, err := range s.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, r)
	}
	return found
}

func uris(t testing.TB, s *sdk.ClientSession) (found []string) {
	for _, r := range all(t, s) {
		found = append(found, r.URI)
	}
	slices.Sort(found)
	return found
}

// stored is a node with something of each kind.
type stored struct {
	*node
	workspace, artifact, receipt string
	resources                    []string // the URI of each, in order
}

func newStored(t testing.TB) *stored {
	t.Helper()
	n := &stored{node: newNode(t, nil)}
	n.node.skill(t, "echo", abi.CreateSkillRequest{Name: "greet"})
	n.workspace = n.node.workspace(t)
	n.artifact = n.node.artifact(t, n.workspace, "image/png", []byte("\x89PNG\x00"), abi.VisibilityPublic)
	n.file(t, n.workspace, "docs/a b.md", "# Hello\n")
	n.receipt = n.task(t, n.workspace, "echo")
	n.installSkill(t, n.workspace, skillFiles)
	n.resources = []string{"skill://" + n.workspace + "/pdf-forms/SKILL.md", "wharf://artifacts/" + n.artifact, "wharf://receipts/" + n.receipt,
		"wharf://workspaces/" + n.workspace + "/files/docs/a%20b.md"}
	return n
}

func read(t testing.TB, s *sdk.ClientSession, uri string) (*sdk.ResourceContents, error) {
	t.Helper()
	res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, err
	}
	if len(res.Contents) != 1 || res.Contents[0].URI != uri {
		t.Fatalf("%s has %d contents, want one of that URI", uri, len(res.Contents))
	}
	return res.Contents[0], nil
}

func TestClientReadsWhatIsListed(t *testing.T) {
	n := newStored(t)
	both(t, func(t *testing.T, revision string) {
		s := n.connect(t, enginetest.RootKey, revision, nil)
		if got := uris(t, s); !slices.Equal(got, n.resources) {
			t.Fatalf("the list has\n%q, want\n%q", got, n.resources)
		}
		for _, r := range all(t, s) {
			c, err := read(t, s, r.URI)
			if err != nil {
				t.Fatal(r.URI, err)
			}
			if c.MIMEType != r.MIMEType {
				t.Errorf("%s is %q when it is read, and %q in the list", r.URI, c.MIMEType, r.MIMEType)
			}
			if size := int64(len(c.Text) + len(c.Blob)); r.Size != 0 && size != r.Size {
				t.Errorf("%s has %d bytes, and %d in the list", r.URI, size, r.Size)
			}
			if r.Annotations == nil || r.Annotations.LastModified == "" {
				t.Errorf("nobody says when %s was changed", r.URI)
			}
		}
		for uri, want := range map[string]string{
			n.resources[0]: skillFiles["SKILL.md"], n.resources[3]: "# Hello\n",
			"skill://" + n.workspace + "/pdf-forms/lib/fill.py": skillFiles["lib/fill.py"],
		} {
			if c, err := read(t, s, uri); err != nil || c.Text != want {
				t.Errorf("%s is %+v (%v), want the text %q", uri, c, err, want)
			}
		}
		if c, err := read(t, s, n.resources[1]); err != nil || string(c.Blob) != "\x89PNG\x00" || c.MIMEType != "image/png" {
			t.Errorf("the image is %+v (%v)", c, err)
		}
		c, err := read(t, s, n.resources[2])
		if err != nil || !strings.Contains(c.Text, abi.ReceiptSchema) || c.MIMEType != abi.MediaReceiptJSON {
			t.Errorf("the receipt is %+v (%v)", c, err)
		}
		list, err := s.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(list.ResourceTemplates) != 4 {
			t.Errorf("the templates are %v (%v), want 4", list, err)
		}
	})
}

// notThere checks that a URI is answered as any that is not there, whatever is there.
func notThere(t *testing.T, revision, uri string, err error) {
	t.Helper()
	code := int64(-32602)
	if revision == withSessions {
		code = -32002
	}
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || wire.Code != code || wire.Message != "Resource not found" {
		t.Errorf("%q: %v, want error %d", uri, err, code)
		return
	}
	var data struct {
		URI string `json:"uri"`
	}
	if stdjson.Unmarshal(wire.Data, &data) != nil || data.URI != uri || !bytes.Equal(wire.Data, mustJSON(map[string]string{"uri": uri})) {
		t.Errorf("%q: the data is %s, want the uri alone", uri, wire.Data)
	}
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return text
}

func TestSpellingsOfURIs(t *testing.T) {
	n := newStored(t)
	n.file(t, n.workspace, "100%2Fx", "odd")
	n.file(t, n.workspace, "ünï", "letters")
	file, skill := "wharf://workspaces/"+n.workspace+"/files/", "skill://"+n.workspace+"/pdf-forms/"
	good := []string{
		"wharf://artifacts/" + n.artifact, "WHARF://Artifacts/" + n.artifact, "wharf://artifacts/" + strings.ReplaceAll(n.artifact, "_", "%5F"),
		"wharf://artifacts/" + strings.ReplaceAll(n.artifact, "_", "%5f"), "wharf://receipts/" + n.receipt,
		file + "docs/a%20b.md", file + "docs/a b.md", file + "docs%2Fa%20b.md", file + "docs%2fa%20b.md", file + "%64ocs/a%20b.md",
		file + "100%252Fx", file + "%C3%BCn%C3%AF", file + "ünï",
		skill + "SKILL.md", skill + "references%2FFORMS.md", "SKILL://" + n.workspace + "/pdf-forms/SKILL.md",
	}
	bad := []string{
		"", "/", "wharf", "wharf:", "wharf:artifacts/" + n.artifact, "wharf:/artifacts/" + n.artifact, "wharf:///artifacts/" + n.artifact, "http://artifacts/" + n.artifact,
		"wharf://artifacts", "wharf://artifacts/", "wharf://artifacts/" + n.artifact + "/", "wharf://artifacts//" + n.artifact, "wharf://artifacts/" + n.artifact + "?x", "wharf://artifacts/" + n.artifact + "#x",
		"wharf://artifacts/" + strings.ToLower(n.artifact), "wharf://artifacts/" + n.artifact + "%00", "wharf://artifacts/" + n.artifact + "\x00", "wharf://artifacts/%2e%2e", "wharf://artifacts/" + n.receipt,
		"wharf://user@artifacts/" + n.artifact, "wharf://artifacts:80/" + n.artifact, " wharf://artifacts/" + n.artifact, "wharf://artifacts/%zz", "wharf://artifacts/%", "wharf://artifacts/../artifacts/" + n.artifact,
		"wharf://receipts/" + n.artifact, "wharf://tasks/x", "wharf://workspaces/" + n.workspace, file, file + "docs", file + "docs/", file + "docs//a%20b.md", file + "docs/../docs/a%20b.md", file + "docs/%2e%2e/docs/a%20b.md",
		file + "docs/%2E/a%20b.md", file + "%2Fdocs/a%20b.md", file + "docs%5Ca%20b.md", file + "docs/a%20b.md%00", file + "docs/a+b.md", file + "DOCS/a%20b.md", file + "docs/a%2520b.md", file + "..%2f..%2fetc%2fpasswd",
		file + "%ff", file + strings.Repeat("a", 9000), "wharf://workspaces/" + n.workspace + "%2Ffiles/docs/a%20b.md", "wharf://workspaces/../files/x",
		"skill://" + n.workspace, "skill://" + n.workspace + "/pdf-forms", skill, skill + "references", skill + "skill.md", skill + "../pdf-forms/SKILL.md", "skill://pdf-forms/SKILL.md",
		"skill://" + n.workspace + "/PDF-forms/SKILL.md", "skill:///pdf-forms/SKILL.md", "skill://" + strings.ToLower(n.workspace) + "/pdf-forms/SKILL.md",
	}
	both(t, func(t *testing.T, revision string) {
		s := n.connect(t, enginetest.RootKey, revision, nil)
		for _, uri := range good {
			if _, err := read(t, s, uri); err != nil {
				t.Errorf("%q: %v", uri, err)
			}
		}
		for _, uri := range bad[1:] { // the SDK's client does not send an empty one
			if revision == stateless && (strings.ContainsRune(uri, 0) || uri[0] == ' ' || len(uri) > 4000) {
				continue // the SDK's client cannot put it into a header as it is
			}
			_, err := read(t, s, uri)
			notThere(t, revision, uri, err)
		}
	})
}

// What a key may not see is answered as what is not there, whether it lacks the scope, is bound to
// another Workspace or is of another tenant.
func TestResourcesOfOthers(t *testing.T) {
	n := newStored(t)
	elsewhere := n.node.workspace(t)
	scopes := []string{"skills:read", "artifacts:read", "receipts:read", "workspaces:read"}
	strangers := map[string]string{
		"another tenant": n.stranger(t), "another workspace": n.key(t, scopes, elsewhere), "no scope": n.key(t, []string{"tasks:read"}),
	}
	both(t, func(t *testing.T, revision string) {
		for name, key := range strangers {
			s := n.connect(t, key, revision, nil)
			if got := uris(t, s); len(got) > 0 {
				t.Errorf("%s: the list has %q", name, got)
			}
			for _, uri := range n.resources {
				_, err := read(t, s, uri)
				notThere(t, revision, uri, err)
				if revision == withSessions {
					notThere(t, revision, uri, s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}))
				}
			}
		}
		for i, scope := range scopes {
			s := n.connect(t, n.key(t, without(scopes, i)), revision, nil)
			want := without(n.resources, i)
			if got := uris(t, s); !slices.Equal(got, want) {
				t.Errorf("without %s the list has\n%q, want\n%q", scope, got, want)
			}
			_, err := read(t, s, n.resources[i])
			notThere(t, revision, n.resources[i], err)
			for _, uri := range want {
				if _, err := read(t, s, uri); err != nil {
					t.Errorf("without %s: %s: %v", scope, uri, err)
				}
			}
			list, err := s.ListResourceTemplates(t.Context(), nil)
			if err != nil || len(list.ResourceTemplates) != 3 {
				t.Errorf("without %s there are the templates %v (%v)", scope, list, err)
			}
		}
		bound := n.connect(t, n.key(t, scopes, n.workspace), revision, nil)
		if got := uris(t, bound); !slices.Equal(got, n.resources) {
			t.Errorf("a key of the workspace sees\n%q, want\n%q", got, n.resources)
		}
	})
}

// without leaves out one of a list.
func without(all []string, i int) []string { return slices.Delete(slices.Clone(all), i, i+1) }

// Content that is not public is not read by whoever may not see it.
func TestContentThatIsWithheld(t *testing.T) {
	n := newStored(t)
	uri := "wharf://artifacts/" + n.node.artifact(t, n.workspace, "text/plain", []byte("the hidden thought"), abi.VisibilityInternal)
	both(t, func(t *testing.T, revision string) {
		s := n.connect(t, n.key(t, []string{"artifacts:read"}), revision, nil)
		if c, err := read(t, s, uri); err == nil || strings.Contains(err.Error(), "hidden thought") {
			t.Errorf("the content is %+v (%v)", c, err)
		}
		s = n.connect(t, n.key(t, []string{"artifacts:read", abi.ScopeEventsInternal}), revision, nil)
		if c, err := read(t, s, uri); err != nil || c.Text != "the hidden thought" {
			t.Errorf("who may see it reads %+v (%v)", c, err)
		}
	})
}

func TestResourcesThatAreTooLarge(t *testing.T) {
	n := newStored(t)
	most := bytes.Repeat([]byte("x"), 10<<20)
	fits, over := n.node.artifact(t, n.workspace, "text/plain", most, abi.VisibilityPublic), n.node.artifact(t, n.workspace, "text/plain", append(most, 'y'), abi.VisibilityPublic)
	empty := n.node.artifact(t, n.workspace, "text/plain", nil, abi.VisibilityPublic)
	s := n.connect(t, enginetest.RootKey, stateless, nil)
	if c, err := read(t, s, "wharf://artifacts/"+fits); err != nil || len(c.Text) != len(most) {
		t.Error(err)
	}
	_, err := read(t, s, "wharf://artifacts/"+over)
	if err == nil || !strings.Contains(err.Error(), "10485761") || !strings.Contains(err.Error(), "/v1/artifacts/"+over+"/content") {
		t.Errorf("%v, want an error that says how large it is, and where to get it", err)
	}
	if answer := n.ask(t, enginetest.RootKey, stateless, "resources/read", map[string]any{"uri": "wharf://artifacts/" + empty}); !bytes.Contains(answer, []byte(`"text":""`)) {
		t.Errorf("an empty text is %s", answer)
	}
}

// ask sends one request of the revision without sessions, and returns the answer.
func (n *node) ask(t testing.TB, key, revision, method string, params map[string]any) []byte {
	t.Helper()
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientInfo": map[string]any{"name": "t", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	body := mustJSON(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.url+"/mcp", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {revision}, "Mcp-Method": {method}}
	if uri, ok := params["uri"].(string); ok && strings.HasPrefix(method, "resources/read") {
		r.Header.Set("Mcp-Name", uri)
	}
	if name, ok := params["name"].(string); ok {
		r.Header.Set("Mcp-Name", name)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if data, ok := bytes.CutPrefix(line, []byte("data: {")); ok {
			return append([]byte("{"), bytes.TrimSpace(data)...)
		}
	}
	return text
}

// A list of many is read in pages, each resource once, whatever comes to be meanwhile.
func TestResourcesInPages(t *testing.T) {
	n := newStored(t)
	want := slices.Clone(n.resources)
	for i := range 130 {
		want = append(want, "wharf://artifacts/"+n.node.artifact(t, n.workspace, "text/plain", []byte{byte(i)}, abi.VisibilityPublic))
		path := fmt.Sprintf("many/%d/f%d", i%7, i)
		n.file(t, n.workspace, path, "x")
		want = append(want, "wharf://workspaces/"+n.workspace+"/files/"+path)
	}
	for range 3 {
		other := n.node.workspace(t)
		n.file(t, other, "one", "x")
		want = append(want, "wharf://workspaces/"+other+"/files/one")
	}
	slices.Sort(want)
	s := n.connect(t, enginetest.RootKey, withSessions, nil)
	var got []string
	pages := 0
	for cursor := ""; ; pages++ {
		page, err := s.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Resources) > 100 {
			t.Errorf("a page has %d resources", len(page.Resources))
		}
		for _, r := range page.Resources {
			got = append(got, r.URI)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
		n.node.artifact(t, n.workspace, "text/plain", []byte("late"), abi.VisibilityPublic)
	}
	slices.Sort(got)
	if pages < 2 || !slices.Equal(got, want) {
		t.Errorf("%d pages have %d resources, want %d", pages+1, len(got), len(want))
	}
	mark := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for _, cursor := range []string{"x", "%%%", mark("{}x"), mark(`{"s":-1}`), mark(`{"s":9}`), mark(`{"s":3,"a":"x"}`), mark(`{"s":3,"a":"x -1"}`),
		mark(`{"s":1,"q":"x"}`), mark(`[]`), "e30=", strings.Repeat("A", 5000)} {
		_, err := s.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor})
		if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != -32602 {
			t.Errorf("cursor %.40q: %v, want error -32602", cursor, err)
		}
	}
}
