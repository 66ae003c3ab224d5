package openharness_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
)

// agent makes an agent of the harness wharf, and returns its place.
func (n *node) agent(t testing.TB) string {
	t.Helper()
	return "/wharf/agents/" + n.do(t, "POST", "/wharf/agents", `{"name":"Rememberer"}`).want(201).text("agent.id")
}

func TestBlocksOfMemory(t *testing.T) {
	n := newNode(t, nil)
	agent := n.agent(t)
	memory := agent + "/memory"
	if got := n.do(t, "GET", memory, nil).want(200); got.get("memory.archive_size") != 0.0 || "/wharf/agents/"+got.text("memory.agent_id") != agent {
		t.Errorf("%s", got.body)
	}
	once := header("Idempotency-Key", "one")
	made := n.do(t, "POST", memory+"/blocks", `{"label":"user_preferences","value":"tea"}`, once).want(201)
	again := n.do(t, "POST", memory+"/blocks", `{"label":"user_preferences","value":"tea"}`, once).want(201)
	if made.text("block.value") != "tea" || !bytes.Equal(made.body, again.body) || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s, again %s", made.body, again.body)
	}
	n.do(t, "POST", memory+"/blocks", `{"label":"user_preferences","value":"tea"}`).fails(409, "CONFLICT")
	n.do(t, "POST", memory+"/blocks", `{"label":"fixed","value":"law","read_only":true}`).want(201)
	if got := n.do(t, "PUT", memory+"/blocks/user_preferences", `{"value":"coffee"}`).want(200); got.text("block.value") != "coffee" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "PUT", memory+"/blocks/fixed", `{"value":"x"}`).fails(409, "CONFLICT")
	n.do(t, "DELETE", memory+"/blocks/fixed", nil).fails(409, "CONFLICT")
	n.do(t, "PUT", memory+"/blocks/none", `{"value":"x"}`).fails(404, "NOT_FOUND")
	n.do(t, "GET", memory+"/blocks/none", nil).fails(404, "NOT_FOUND")
	if got := n.do(t, "GET", memory+"/blocks", nil).want(200); got.text("blocks.0.label") != "fixed" || got.text("blocks.1.label") != "user_preferences" {
		t.Errorf("not in order of label: %s", got.body)
	}
	n.do(t, "DELETE", memory+"/blocks/user_preferences", nil).want(204)
	n.do(t, "GET", memory+"/blocks/user_preferences", nil).fails(404, "NOT_FOUND")
	n.do(t, "DELETE", agent, nil).want(204) // with a block that is read-only
	n.do(t, "GET", memory, nil).fails(404, "NOT_FOUND")
}

func TestLimitsOfMemory(t *testing.T) {
	n := newNode(t, nil)
	memory := n.agent(t) + "/memory"
	long := strings.Repeat("ä", 100_000)
	n.do(t, "POST", memory+"/blocks", map[string]any{"label": strings.Repeat("a", 100), "value": long}).want(201)
	n.do(t, "POST", memory+"/archive", map[string]any{"content": long}).want(201)
	for body, path := range map[string]string{
		`{"label":"` + strings.Repeat("a", 101) + `","value":"x"}`: "/blocks", `{"label":"A","value":"x"}`: "/blocks", `{"label":"a--b","value":"x"}`: "/blocks",
		`{"label":"a-","value":"x"}`: "/blocks", `{"value":"x"}`: "/blocks", `{"label":"b","value":""}`: "/blocks", `{"label":"b","value":"` + long + `x"}`: "/blocks",
		`{"content":""}`: "/archive", `{"content":"` + long + `x"}`: "/archive", `{"content":"x","metadata":[]}`: "/archive",
		`{"query":""}`: "/search", `{"query":"` + strings.Repeat("q", 1001) + `"}`: "/search", `{"query":"q","limit":0}`: "/search", `{"query":"q","limit":101}`: "/search",
	} {
		n.do(t, "POST", memory+path, body).fails(400, "VALIDATION_ERROR")
	}
}

func TestArchiveAndSearch(t *testing.T) {
	n := newNode(t, nil)
	memory := n.agent(t) + "/memory"
	for _, text := range []string{"The user lives in Bern.", "Nothing.", "Bern is the capital."} {
		n.do(t, "POST", memory+"/archive", map[string]any{"content": text, "metadata": map[string]any{"k": 1}}).want(201)
	}
	n.do(t, "POST", memory+"/blocks", `{"label":"home","value":"bern, BERN"}`).want(201)
	got := n.do(t, "GET", memory+"/archive?limit=1&offset=1", nil).want(200)
	if got.get("total") != 3.0 || got.text("data.0.content") != "Nothing." || got.get("data.0.metadata.k") != 1.0 || got.get("has_more") != true {
		t.Errorf("%s", got.body)
	}
	got = n.do(t, "POST", memory+"/search", `{"query":"capital Bern"}`).want(200)
	if got.text("results.0.content") != "Bern is the capital." || got.text("results.1.label") != "home" || got.text("results.2.source") != "archive" {
		t.Errorf("%s", got.body)
	}
	got = n.do(t, "POST", memory+"/search", `{"query":"capital Bern","include_archive":false}`).want(200)
	if got.text("results.0.source") != "block" || strings.Contains(string(got.body), "archive") {
		t.Errorf("%s", got.body)
	}
}

func TestMemoryIsTakenElsewhere(t *testing.T) {
	n := newNode(t, nil)
	from, to := n.agent(t)+"/memory", "/wharf/agents/"+n.do(t, "POST", "/wharf/agents", `{"name":"Other"}`).want(201).text("agent.id")+"/memory"
	n.do(t, "POST", from+"/blocks", `{"label":"a","value":"one"}`).want(201)
	n.do(t, "POST", from+"/archive", `{"content":"kept"}`).want(201)
	zipped := n.do(t, "POST", from+"/export", nil).want(200)
	if !strings.HasPrefix(zipped.header.Get("Content-Disposition"), "attachment; filename=rememberer-memory-") {
		t.Error(zipped.header)
	}
	r, err := zip.NewReader(bytes.NewReader(zipped.body), int64(len(zipped.body)))
	if err != nil || len(r.File) != 3 {
		t.Fatal(err, r)
	}
	if less := n.do(t, "GET", from+"/export?include_archive=false", nil).want(200); len(less.body) >= len(zipped.body) {
		t.Error("the archive is in it")
	}
	send := func(file, strategy string) answer {
		body, media := formOf(t, part{"file", "m.zip", file}, part{"merge_strategy", "", strategy})
		return n.do(t, "POST", to+"/import", body, media)
	}
	got := send(string(zipped.body), "skip").want(200)
	if got.get("blocks_imported") != 1.0 || got.get("archive_entries_imported") != 1.0 || got.get("conflicts") != 0.0 {
		t.Errorf("%s", got.body)
	}
	got = send(zipOf(t, "blocks.json", `[{"label":"a","value":"two","read_only":false}]`, "archive.json", `[{"content":"kept"}]`), "merge").want(200)
	if got.get("conflicts") != 1.0 || got.get("archive_entries_imported") != 0.0 {
		t.Errorf("%s", got.body)
	}
	if b := n.do(t, "GET", to+"/blocks/a", nil).want(200); b.text("block.value") != "one\ntwo" {
		t.Errorf("%s", b.body)
	}
	for _, bad := range []string{"no zip", zipOf(t, "archive.json", "[]"), zipOf(t, "blocks.json", "{}"), zipOf(t, "../blocks.json", "[]")} {
		send(bad, "skip").fails(400, "VALIDATION_ERROR")
	}
	send(string(zipped.body), "sometimes").fails(400, "VALIDATION_ERROR")
}

// Who may not read or write what agents know does not, by any route.
func TestMemoryIsItsOwners(t *testing.T) {
	n := newNode(t, nil)
	memory := n.agent(t) + "/memory"
	n.do(t, "POST", memory+"/blocks", `{"label":"a","value":"one"}`).want(201)
	form, media := formOf(t, part{"snapshot", "m.zip", zipOf(t, "blocks.json", "[]")})
	n.do(t, "POST", "", register).want(201)
	h, err := n.Harness(t.Context(), n.Root, "mine")
	if err != nil {
		t.Fatal(err)
	}
	stranger, elsewhere := n.stranger(t), n.key(t, []string{"*"}, h.WorkspaceID)
	for _, one := range []struct {
		method, path string
		body         any
		scope        string
	}{
		{"GET", "", nil, "memories:read"}, {"GET", "/blocks", nil, "memories:read"}, {"GET", "/blocks/a", nil, "memories:read"},
		{"GET", "/archive", nil, "memories:read"}, {"POST", "/search", `{"query":"q"}`, "memories:read"}, {"POST", "/export", nil, "memories:read"},
		{"PUT", "/blocks/a", `{"value":"x"}`, "memories:write"}, {"POST", "/blocks", `{"label":"b","value":"x"}`, "memories:write"},
		{"POST", "/archive", `{"content":"x"}`, "memories:write"}, {"POST", "/import", form, "memories:write"}, {"DELETE", "/blocks/a", nil, "memories:write"},
	} {
		typed := header("X-None", "")
		if one.path == "/import" {
			typed = media
		}
		n.do(t, one.method, memory+one.path, one.body, typed, by("")).fails(401, "UNAUTHORIZED")
		n.do(t, one.method, memory+one.path, one.body, typed, by(n.key(t, []string{"harnesses:read", "personas:read"}))).fails(403, "FORBIDDEN")
		n.do(t, one.method, memory+one.path, one.body, typed, by(stranger)).fails(404, "NOT_FOUND")
		n.do(t, one.method, memory+one.path, one.body, typed, by(elsewhere)).fails(404, "NOT_FOUND")
		n.do(t, one.method, "/wharf/agents/persona_none/memory"+one.path, one.body, typed).fails(404, "NOT_FOUND")
	}
}
