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

// TestAMistakeIsFound gives the generator documents that it must not make a client from.
func TestAMistakeIsFound(t *testing.T) {
	text, err := os.ReadFile("../../../gateway/harn/testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		`"operationId": "getTask"`: `"operationId": "readTask"`,
		`"rate_limited"`:           `"limited"`,
		`"TaskStatus": {`:          `"ListTasksQuery": {`,
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
