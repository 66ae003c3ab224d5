package main

import (
	"encoding/json"
	"strings"
	"testing"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/wharftest"

	"github.com/wharf-dev/wharf/plugins/digest/digest"
)

const sample = "# Title\n\nIt says [this](http://a.b)."

func TestHandleReadsEveryKindOfInput(t *testing.T) {
	for name, input := range map[string]any{
		"a text part":    wharf.Message{Role: "user", Parts: []wharf.Part{wharf.TextPart(sample)}},
		"an artifact":    wharf.Message{Role: "user", Parts: []wharf.Part{wharf.ArtifactPart("art_in")}},
		"two parts":      wharf.Message{Role: "user", Parts: []wharf.Part{wharf.TextPart("# Title"), wharf.TextPart("It says [this](http://a.b).")}},
		"a text member":  map[string]string{"text": sample},
		"an artifact id": map[string]string{"artifact_id": "art_in"},
	} {
		t.Run(name, func(t *testing.T) {
			host := wharftest.Host{Artifacts: map[string][]byte{"art_in": []byte(sample)}}
			outcome := host.Run(handle, input)
			if want := `"Title": 4 words, 1 heading, 1 link, less than a minute to read`; outcome.Summary != want || outcome.Failure != nil {
				t.Errorf("got %+v, want the summary %s", outcome, want)
			}
			if outcome.Metrics["words"] != 4 || outcome.Metrics["links"] != 1 {
				t.Errorf("the metrics are %v", outcome.Metrics)
			}
		})
	}
}

// TestHandleAnswersInThreeForms holds that people, programs and whoever wants
// everything find the digest.
func TestHandleAnswersInThreeForms(t *testing.T) {
	var host wharftest.Host
	text := sample + strings.Repeat("\n\n## Section\n", 200)
	host.Text(handle, text)
	if len(host.Messages) != 1 || len(host.Messages[0].Parts) != 3 || len(host.Stored) != 1 {
		t.Fatalf("left %d messages and %d artifacts", len(host.Messages), len(host.Stored))
	}
	parts := host.Messages[0].Parts
	if !strings.Contains(parts[0].Text, "… and 151 more.") {
		t.Errorf("the text does not tell what it leaves out:\n%s", parts[0].Text)
	}
	var data digest.Digest
	if err := json.Unmarshal(parts[1].Value, &data); err != nil || len(data.Outline) != inMessage || data.OutlineTotal != 201 {
		t.Errorf("the data has %d entries of %d (%v)", len(data.Outline), data.OutlineTotal, err)
	}
	stored := host.Stored[0]
	if parts[2].ArtifactID != stored.ID || stored.Name != "digest.md" || stored.MimeType != "text/markdown" {
		t.Errorf("the answer refers to %s, stored is %+v", parts[2].ArtifactID, stored.Artifact)
	}
	if n := strings.Count(string(stored.Content), "- Section (line"); n != 200 {
		t.Errorf("the artifact lists %d sections, want 200", n)
	}
	if last := len(host.Progress) - 1; last < 1 || host.Progress[last] != 1 {
		t.Errorf("progress went %v", host.Progress)
	}
}

func TestHandleEmptyDocument(t *testing.T) {
	for name, input := range map[string]any{
		"text part":   wharf.Message{Role: "user", Parts: []wharf.Part{wharf.TextPart("")}},
		"text member": map[string]string{"text": ""},
		"artifact":    map[string]string{"artifact_id": "art_empty"},
	} {
		host := wharftest.Host{Artifacts: map[string][]byte{"art_empty": nil}}
		if outcome := host.Run(handle, input); outcome.Failure != nil || outcome.Summary != "the document holds no text" {
			t.Errorf("%s: got %+v", name, outcome)
		}
	}
}

func TestHandleFails(t *testing.T) {
	denied := &wharf.Error{Status: wharf.StatusDenied, Code: "policy_violation", Message: "no artifacts here"}
	for _, test := range []struct {
		name, code string
		input      any
		refuse     map[string]*wharf.Error
	}{
		{"no document", "no_document", map[string]any{"question": 1}, nil},
		{"a message without parts", "no_document", wharf.Message{Role: "user", Parts: []wharf.Part{}}, nil},
		{"not an object", "invalid_input", 17, nil},
		{"an unknown artifact", wharf.CodeError, map[string]string{"artifact_id": "art_none"}, nil},
		{"artifacts denied", wharf.CodeError, map[string]string{"text": "x"}, map[string]*wharf.Error{"artifact.put": denied}},
		{"messages denied", wharf.CodeError, map[string]string{"text": "x"}, map[string]*wharf.Error{"message.append": denied}},
	} {
		host := wharftest.Host{Refuse: test.refuse}
		if outcome := host.Run(handle, test.input); outcome.Failure == nil || outcome.Failure.Code != test.code {
			t.Errorf("%s: got %+v, want the failure %s", test.name, outcome, test.code)
		}
	}
	large := wharftest.Host{Artifacts: map[string][]byte{"art_large": make([]byte, maxDocument+1)}}
	if outcome := large.Run(handle, map[string]string{"artifact_id": "art_large"}); outcome.Failure == nil || outcome.Failure.Code != "document_too_large" {
		t.Errorf("too large a document: got %+v", outcome)
	}
}

// TestHandleGoesOnWithoutProgress holds that telemetry is no reason to fail.
func TestHandleGoesOnWithoutProgress(t *testing.T) {
	host := wharftest.Host{Refuse: map[string]*wharf.Error{"progress": {Status: wharf.StatusUnavailable}}}
	if outcome := host.Text(handle, "text"); outcome.Failure != nil {
		t.Errorf("got %+v", outcome)
	}
}
