package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGeneratedIsCurrent(t *testing.T) {
	files, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the document gives: run go generate ./sdk/client/gen", name)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string][3]string{
		"session_id":        {"SessionID", "sessionId", "session_id"},
		"createdAt":         {"CreatedAt", "createdAt", "created_at"},
		"registerArtifact":  {"RegisterArtifact", "registerArtifact", "register_artifact"},
		"artifact_ids":      {"ArtifactIDs", "artifactIds", "artifact_ids"},
		"input_required":    {"InputRequired", "inputRequired", "input_required"},
		"tokenUrl":          {"TokenURL", "tokenUrl", "token_url"},
		"redriveAll":        {"RedriveAll", "redriveAll", "redrive_all"},
		"include_total":     {"IncludeTotal", "includeTotal", "include_total"},
		"provider_breakage": {"ProviderBreakage", "providerBreakage", "provider_breakage"},
	} {
		if got := [3]string{goName(name), camel(name), snake(name)}; got != want {
			t.Errorf("%s becomes %v, want %v", name, got, want)
		}
	}
}

// TestEveryOperationIsPlaced takes a method away: what the document has is a method, or left out for a reason.
func TestEveryOperationIsPlaced(t *testing.T) {
	text, err := os.ReadFile("../../../gateway/harn/testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	a, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a.operations["newOne"] = &operation{id: "newOne"}
	if err := a.checkOperations(); err == nil || !strings.Contains(err.Error(), "newOne") {
		t.Errorf("an operation that nobody has placed: %v", err)
	}
}

// TestEveryResourceIsReached looks for the resources in what is written by hand.
func TestEveryResourceIsReached(t *testing.T) {
	for file, in := range map[string]func(resource) string{
		"ts/src/index.ts":               func(r resource) string { return "readonly " + r.name },
		"python/wharf_client/client.py": func(r resource) string { return "self." + snake(r.name) + " = " },
		"python/wharf_client/aio.py":    func(r resource) string { return "self." + snake(r.name) + " = " },
	} {
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range surface() {
			if !strings.Contains(string(text), in(r)) {
				t.Errorf("the client in %s does not have %s", file, r.name)
			}
		}
	}
}

// TestAMistakeIsFound gives the generator documents that it must not make a client from.
func TestAMistakeIsFound(t *testing.T) {
	text, err := os.ReadFile("../../../gateway/harn/testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		`"operationId": "getOpenAPI"`: `"operationId": "getDocument"`, // which is left out
		`"operationId": "getTask"`:    `"operationId": "readTask"`,
		`"rate_limited"`:              `"limited"`,
		`"TaskStatus": {`:             `"ListTasksQuery": {`,
	} {
		changed := strings.ReplaceAll(string(text), from, to)
		if changed == string(text) {
			t.Fatalf("the document does not have %s", from)
		}
		if _, err := parse([]byte(changed)); err == nil {
			t.Errorf("a document with %s in the place of %s was taken", to, from)
		}
	}
}
