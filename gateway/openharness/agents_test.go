package openharness_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// agentMD is an AGENTS.md of an agent.
func agentMD(key string) string {
	return fmt.Sprintf("---\nname: The %[1]s\nvendorKey: acme\nagentKey: %[1]s\nversion: 1.0.0\nslug: acme/%[1]s\n"+
		"description: A helper that is described in more than fifty characters.\nauthor: \"@acme\"\nlicense: MIT\ntags: [a]\n"+
		"tools: [Read]\nmodel: {provider: x, name: m}\nconfig: {temperature: 0.5, max_tokens: 100}\n---\n\nYou are %[1]s.\n", key)
}

func zipOf(t testing.TB, pairs ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		out, err := w.Create(pairs[i])
		if err == nil {
			_, err = out.Write([]byte(pairs[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (n *node) importAgent(t testing.TB, bundle string, more ...part) answer {
	t.Helper()
	body, media := formOf(t, append([]part{{"bundle", "a.zip", bundle}}, more...)...)
	return n.do(t, "POST", "/wharf/agents/import", body, media)
}

func TestAgents(t *testing.T) {
	n := newNode(t, nil)
	body, media := formOf(t, part{"files", "my-agent/AGENTS.md", agentMD("one")}, part{"files", "my-agent/docs/a.md", "a"},
		part{"metadata", "", `{"name":"First","description":"What it does."}`})
	made := n.do(t, "POST", "/wharf/agents", body, media).want(201)
	id := made.text("agent.id")
	if made.text("agent.name") != "First" || made.text("agent.description") != "What it does." || made.text("agent.config.system_prompt") != "You are one." ||
		made.text("agent.config.model.name") != "m" || made.get("agent.config.temperature") != 0.5 || made.text("agent.config.tools_access.allow.0") != "Read" {
		t.Errorf("%s", made.body)
	}
	n.do(t, "POST", "/wharf/agents", body, media).fails(409, "CONFLICT")
	got := n.do(t, "GET", "/wharf/agents", nil).want(200)
	if got.get("total") != 1.0 || got.text("data.0.id") != id || got.text("items.0.id") != id || got.text("agents.0.id") != id {
		t.Errorf("%s", got.body)
	}
	got = n.do(t, "PATCH", "/wharf/agents/"+id, `{"name":"Second","config":{"temperature":0,"model":"sonnet","tools_access":{"deny":["Write"]},"system_prompt":"New."}}`).want(200)
	if got.text("agent.name") != "Second" || got.get("agent.config.temperature") != 0.0 || got.text("agent.config.model") != "sonnet" || got.get("agent.config.max_tokens") != 100.0 ||
		got.text("agent.config.tools_access.deny.0") != "Write" || got.text("agent.config.tools_access.allow.0") != "Read" {
		t.Errorf("%s", got.body)
	}
	p, err := n.Persona(t.Context(), n.Root.Tenant, id)
	if err != nil || fmt.Sprint(p.Tools, p.ToolsDenied) != "[host:file_read] [host:file_write]" || p.Agent.Instructions != "New." {
		t.Errorf("%+v, %v", p, err)
	}
	clone := n.do(t, "POST", "/wharf/agents/"+id+"/clone", `{"new_name":"Third"}`).want(201)
	if clone.text("agent.agentKey") != "third" || clone.text("agent.id") == id {
		t.Errorf("%s", clone.body)
	}
	zipped := n.do(t, "GET", "/wharf/agents/"+id+"/export", nil).want(200)
	if zipped.header.Get("Content-Type") != "application/zip" || zipped.header.Get("Content-Disposition") != `attachment; filename="one.zip"` {
		t.Error(zipped.header)
	}
	n.do(t, "DELETE", "/wharf/agents/"+id, nil).want(204)
	n.do(t, "GET", "/wharf/agents/"+id, nil).fails(404, "NOT_FOUND")
	again := n.importAgent(t, string(zipped.body)).want(201)
	if again.text("agent.name") != "Second" || again.text("agent.config.system_prompt") != "New." || again.get("warnings") == nil || again.text("agents.0.id") != again.text("agent.id") {
		t.Errorf("%s", again.body)
	}
	if second := n.do(t, "GET", "/wharf/agents/"+again.text("agent.id")+"/export", nil).want(200); !bytes.Equal(second.body, zipped.body) {
		t.Error("it is given out otherwise than it was taken in")
	}
	n.do(t, "GET", "/wharf/agents/"+again.text("agent.id")+"/export?contents_mode=all", nil).fails(400, "VALIDATION_ERROR")
}

// What clients of the protocol's authors send as JSON makes an agent, too.
func TestAgentsByJSON(t *testing.T) {
	n := newNode(t, nil)
	made := n.do(t, "POST", "/wharf/agents", `{"name":"My Agent","description":"d","system_prompt":"Be kind.","model":"m","temperature":0.2,"skills":["fix"],"tools":["Read"],"unknown":1}`).want(201)
	if made.text("agent.slug") != "local/my-agent" || made.text("agent.config.system_prompt") != "Be kind." || made.text("agent.config.model") != "m" ||
		made.text("agent.skills.0.skill_id") != "fix" || made.text("agent.config.tools_access.allow.0") != "Read" || made.text("agent.version") != "1.0.0" {
		t.Errorf("%s", made.body)
	}
	zipped := n.do(t, "GET", "/wharf/agents/"+made.text("agent.id")+"/export", nil).want(200)
	if again := n.importAgent(t, string(zipped.body), part{"merge_strategy", "", "overwrite"}).want(201); again.text("agent.id") != made.text("agent.id") || again.text("agent.config.model") != "m" {
		t.Errorf("%s", again.body)
	}
	for param, body := range map[string]string{
		"name":                 `{"description":"d"}`,
		"config.system_prompt": `{"name":"n","system_prompt":"` + strings.Repeat("x", 100_001) + `"}`,
		"config.temperature":   `{"name":"n","config":{"temperature":1.01}}`,
		"config.max_tokens":    `{"name":"n","config":{"max_tokens":200001}}`,
		"config.model":         `{"name":"n","config":{"model":{"provider":"p"}}}`,
	} {
		if got := n.do(t, "POST", "/wharf/agents", body); got.text("error.details.param") != param || got.status >= 500 || got.status < 400 {
			t.Errorf("%s: %d %s", param, got.status, got.body)
		}
	}
	for _, body := range []string{`{"name":"m","config":{"temperature":1,"max_tokens":200000}}`, `{"name":"` + strings.Repeat("ä", 100) + `"}`, `{"name":"long","system_prompt":"` + strings.Repeat("x", 100_000) + `"}`} {
		n.do(t, "POST", "/wharf/agents", body).want(201)
	}
	n.do(t, "POST", "/wharf/agents", `{"name":"`+strings.Repeat("ä", 101)+`"}`).fails(400, "VALIDATION_ERROR")
}

// Which agent is there already, and what becomes of it, is for the client to say.
func TestImportStrategies(t *testing.T) {
	n := newNode(t, nil)
	bundle := zipOf(t, "AGENTS.md", agentMD("one"))
	id := n.importAgent(t, bundle).want(201).text("agent.id")
	refused := n.importAgent(t, bundle)
	if refused.fails(409, "CONFLICT"); refused.text("error.details.agent_id") != id {
		t.Errorf("%s", refused.body)
	}
	if got := n.importAgent(t, bundle, part{"merge_strategy", "", "skip"}).want(200); got.text("agent.id") != id || got.text("warnings.0") == "" {
		t.Errorf("%s", got.body)
	}
	if got := n.importAgent(t, bundle, part{"merge_strategy", "", "overwrite"}, part{"rename_to", "", "New"}).want(201); got.text("agent.id") != id || got.text("agent.name") != "New" {
		t.Errorf("%s", got.body)
	}
	n.importAgent(t, bundle, part{"merge_strategy", "", "mix"}).fails(400, "VALIDATION_ERROR")
	body, media := formOf(t, part{"rename_to", "", "x"})
	n.do(t, "POST", "/wharf/agents/import", body, media).fails(400, "VALIDATION_ERROR")
	n.do(t, "POST", "/wharf/agents/import", `{}`).fails(415, "UNSUPPORTED_MEDIA_TYPE")
	body, media = formOf(t, part{"file", "b.zip", zipOf(t, "AGENTS.md", agentMD("two"))})
	first := n.do(t, "POST", "/wharf/agents/import", body, media, header("Idempotency-Key", "k")).want(201)
	again := n.do(t, "POST", "/wharf/agents/import", body, media, header("Idempotency-Key", "k")).want(201)
	if again.text("agent.id") != first.text("agent.id") || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s", again.body)
	}
	body, media = formOf(t, part{"file", "b.zip", zipOf(t, "AGENTS.md", agentMD("three"))})
	if got := n.do(t, "POST", "/wharf/agents/import", body, media, header("Idempotency-Key", "k")); got.status != 409 && got.status != 422 {
		t.Errorf("another bundle with the same key: %d %s", got.status, got.body)
	}
}

// Bundles that are hostile, or wrong, are refused with a code, a file and a line; nothing is kept.
func TestBadBundles(t *testing.T) {
	n := newNode(t, nil)
	bomb := zipOf(t, "AGENTS.md", agentMD("one"), "big", strings.Repeat("\x00", 51<<20))
	many := []string{"AGENTS.md", agentMD("one")}
	for i := range 5000 {
		many = append(many, fmt.Sprintf("docs/%d", i), "x")
	}
	for name, c := range map[string]struct{ bundle, code string }{
		"no zip":    {"hello", "NO_ARCHIVE"},
		"truncated": {zipOf(t, "AGENTS.md", agentMD("one"))[:100], ""},
		"bomb":      {bomb, ""},
		"files":     {zipOf(t, many...), "TOO_MANY_FILES"},
		"traversal": {zipOf(t, "AGENTS.md", agentMD("one"), "../x", "x"), "PATH_TRAVERSAL"},
		"absolute":  {zipOf(t, "AGENTS.md", agentMD("one"), "/etc/x", "x"), "PATH_ABSOLUTE"},
		"backslash": {zipOf(t, "AGENTS.md", agentMD("one"), `a\b`, "x"), "PATH_BACKSLASH"},
		"case":      {zipOf(t, "AGENTS.md", agentMD("one"), "a", "x", "A", "x"), "PATH_COLLISION"},
		"no agent":  {zipOf(t, "README.md", "x"), "AGENT_MISSING"},
		"no yaml":   {zipOf(t, "AGENTS.md", "---\nname: [\n---\n"), "YAML_INVALID"},
		"aliases":   {zipOf(t, "AGENTS.md", "---\na: &a [x,x]\nb: &b [*a,*a]\n---\n"), "YAML_ALIAS"},
		"no author": {zipOf(t, "AGENTS.md", strings.Replace(agentMD("one"), "author: \"@acme\"\n", "", 1)), "FIELD_MISSING"},
		"license":   {zipOf(t, "AGENTS.md", strings.Replace(agentMD("one"), "MIT", "Nope-1.0", 1)), "LICENSE_UNKNOWN"},
	} {
		got := n.importAgent(t, c.bundle)
		got.fails(422, "INVALID_BUNDLE")
		if code := got.text("error.details.errors.0.code"); c.code != "" && code != c.code {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	got := n.importAgent(t, zipOf(t, "AGENTS.md", strings.Replace(agentMD("one"), "MIT", "Nope-1.0", 1)))
	if got.text("error.details.errors.0.file") != "AGENTS.md" || got.get("error.details.errors.0.line") != 9.0 {
		t.Errorf("%s", got.body)
	}
	body, media := formOf(t, part{"files", "../AGENTS.md", agentMD("one")}, part{"metadata", "", `{}`})
	n.do(t, "POST", "/wharf/agents", body, media).fails(422, "INVALID_BUNDLE")
	body, media = formOf(t, part{"bundle", "a.zip", strings.Repeat("x", 50<<20+1)})
	n.do(t, "POST", "/wharf/agents/import", body, media).fails(413, "PAYLOAD_TOO_LARGE")
	for _, metadata := range []string{`{"name":7}`, `[]`, `{`} {
		body, media = formOf(t, part{"files", "AGENTS.md", agentMD("one")}, part{"metadata", "", metadata})
		n.do(t, "POST", "/wharf/agents", body, media).fails(400, "VALIDATION_ERROR")
	}
	body, media = formOf(t, part{"other", "AGENTS.md", agentMD("one")})
	n.do(t, "POST", "/wharf/agents", body, media).fails(400, "VALIDATION_ERROR")
	if list := n.do(t, "GET", "/wharf/agents", nil).want(200); list.get("total") != 0.0 {
		t.Errorf("%s", list.body)
	}
}

// Bundles that other tools make are read: one agent at the root, in a folder, several.
func TestBundlesOfOthers(t *testing.T) {
	n := newNode(t, nil)
	dir := t.TempDir()
	for path, content := range map[string]string{"in/my-agent/AGENTS.md": agentMD("one"), "in/my-agent/docs/ä.md": "a", "root/AGENTS.md": agentMD("two"),
		"pack/PACKAGE.yaml": "agents:\n  - slug: acme/four\n  - slug: acme/three\ncontents: {mode: bundled}\n", "pack/a/AGENTS.md": agentMD("three"), "pack/b/AGENTS.md": agentMD("four")} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for tool, command := range map[string][]string{"zip": {"zip", "-rq", "../OUT", "."}, "python3": {"python3", "-m", "zipfile", "-c", "../OUT", "."}} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("there is no %s here: its bundles are not tried", tool)
			continue
		}
		for folder, want := range map[string]string{"in": "one", "root": "two", "pack": "four"} {
			out := tool + folder + ".zip"
			args := strings.Split(strings.ReplaceAll(strings.Join(command[1:], " "), "OUT", out), " ")
			cmd := exec.CommandContext(t.Context(), command[0], args...)
			cmd.Dir = filepath.Join(dir, folder)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v %s", tool, err, text)
			}
			bundle, err := os.ReadFile(filepath.Join(dir, out))
			if err != nil {
				t.Fatal(err)
			}
			got := n.importAgent(t, string(bundle), part{"merge_strategy", "", "overwrite"}).want(201)
			if got.text("agent.agentKey") != want || (got.get("agents.1") != nil) != (folder == "pack") {
				t.Errorf("%s %s: %s", tool, folder, got.body)
			}
		}
	}
}

// Every route refuses who may not use it, and what is not there.
func TestWhoHasAgents(t *testing.T) {
	n := newNode(t, nil)
	n.do(t, "POST", "", register).want(201)
	h, err := n.Harness(t.Context(), n.Root, "mine")
	if err != nil {
		t.Fatal(err)
	}
	body, media := formOf(t, part{"bundle", "a.zip", zipOf(t, "AGENTS.md", agentMD("one"))})
	theirs := n.do(t, "POST", "/mine/agents", `{"name":"x"}`).want(201).text("agent.id")
	n.do(t, "GET", "/wharf/agents/"+theirs, nil).fails(404, "NOT_FOUND") // each harness has its own
	if list := n.do(t, "GET", "/wharf/agents", nil).want(200); list.get("total") != 0.0 {
		t.Errorf("%s", list.body)
	}
	one := n.importAgent(t, zipOf(t, "AGENTS.md", agentMD("one"))).want(201).text("agent.id")
	keys := map[string]string{
		"none": "", "reads": n.key(t, []string{"personas:read"}), "writes": n.key(t, []string{"personas:write"}), "nothing": n.key(t, []string{"harnesses:read"}),
		"elsewhere": n.key(t, []string{"*"}, h.WorkspaceID), "stranger": n.stranger(t),
	}
	const reads, writes = "reads", "writes"
	for _, rt := range []struct{ method, path, body, needs string }{
		{"GET", "", "", reads}, {"POST", "", `{"name":"made"}`, writes}, {"GET", "/" + one, "", reads}, {"PATCH", "/" + one, `{}`, writes},
		{"POST", "/" + one + "/clone", `{"new_name":"c"}`, writes}, {"GET", "/" + one + "/export", "", reads}, {"POST", "/import", string(body), writes}, {"DELETE", "/" + one, "", writes},
	} {
		of := header("X-None", "")
		if rt.path == "/import" {
			of = media
		}
		var sent any
		if rt.body != "" {
			sent = rt.body
		}
		for who, key := range keys {
			if who == rt.needs || who == "stranger" && !strings.Contains(rt.path, one) {
				continue
			}
			want := map[string]int{"none": 401, "reads": 403, "writes": 403, "nothing": 403, "elsewhere": 404, "stranger": 404}[who]
			if got := n.do(t, rt.method, "/wharf/agents"+rt.path, sent, by(key), of); got.status != want {
				t.Errorf("%s: %s %s answered %d: %s", who, rt.method, rt.path, got.status, got.body)
			}
		}
		if strings.Contains(rt.path, one) {
			n.do(t, rt.method, "/wharf/agents"+strings.Replace(rt.path, one, "persona_none", 1), sent).fails(404, "NOT_FOUND")
			n.do(t, rt.method, "/wharf/agents"+strings.Replace(rt.path, one, "persona_agent", 1), sent).fails(404, "NOT_FOUND")
		}
		if rt.path == "/import" {
			of = func(r *http.Request) { media(r); r.Header.Set("Authorization", "Bearer "+keys["stranger"]) }
			n.do(t, rt.method, "/wharf/agents"+rt.path, sent, of).want(201) // another tenant has names of its own
			continue
		}
		if got := n.do(t, rt.method, "/wharf/agents"+rt.path, sent, by(keys[rt.needs]), of); got.status >= 300 {
			t.Errorf("%s: %s %s answered %d: %s", rt.needs, rt.method, rt.path, got.status, got.body)
		}
	}
}

// An agent that a session goes on with stays.
func TestAgentInUse(t *testing.T) {
	n := newNode(t, nil)
	id := n.do(t, "POST", "/wharf/agents", `{"name":"x"}`).want(201).text("agent.id")
	h, err := n.Harness(t.Context(), n.Root, abi.OwnHarness)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := n.CreateSession(t.Context(), n.Root, nil, abi.CreateSessionRequest{WorkspaceID: h.WorkspaceID, PersonaID: id})
	if err != nil {
		t.Fatal(err)
	}
	n.do(t, "DELETE", "/wharf/agents/"+id, nil).fails(409, "CONFLICT")
	if _, err := n.CloseSession(t.Context(), n.Root, nil, doc.ID); err != nil {
		t.Fatal(err)
	}
	n.do(t, "DELETE", "/wharf/agents/"+id, nil).want(204)
}

// A skill that lies in an agent's bundle is installed with it, once, and its executions can name it;
// a key that may not install skills imports no agent that brings one.
func TestAgentsBringSkills(t *testing.T) {
	n := newNode(t, nil)
	md := strings.Replace(agentMD("one"), "tags: [a]\n", "tags: [a]\nskills:\n  - name: pdf\n    source: local\n", 1)
	bundle := zipOf(t, "AGENTS.md", md, "skills/pdf/SKILL.md", skillMD("pdf", "1.2.0"))
	body, media := formOf(t, part{"bundle", "a.zip", bundle})
	n.do(t, "POST", "/wharf/agents/import", body, media, by(n.key(t, []string{"personas:write"}))).fails(403, "FORBIDDEN")
	made := n.importAgent(t, bundle).want(201)
	if made.get("warnings.0") != nil {
		t.Errorf("%s", made.body)
	}
	if got := n.do(t, "GET", "/wharf/skills", nil).want(200); got.get("total") != 1.0 || got.text("data.0.version") != "1.2.0" {
		t.Errorf("%s", got.body)
	}
	n.importAgent(t, bundle, part{"rename_to", "", "Two"}).want(201)
	if got := n.do(t, "GET", "/wharf/skills", nil).want(200); got.get("total") != 1.0 {
		t.Errorf("%s", got.body)
	}
	n.do(t, "DELETE", "/wharf/skills/"+n.do(t, "GET", "/wharf/skills", nil).text("data.0.id"), nil).fails(409, "CONFLICT")
}
