package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/digest/digest"
)

// Bounds of what is read and shown. The Artifact holds what the Message leaves out.
const (
	maxDocument = 32 << 20
	inMessage   = 50
)

// handle answers a Task with the digest of its document: as a Message, as the
// Artifact digest.md, and in one line as the summary.
func handle(task *wharf.Task) (wharf.Result, error) {
	text, err := document(task)
	if err != nil {
		return wharf.Result{}, err
	}
	d := digest.Make(text, report)
	stored, err := wharf.PutArtifact(
		wharf.Artifact{Kind: "file", MimeType: "text/markdown", Name: "digest.md"},
		[]byte(d.Render(digest.MaxOutline)))
	if err != nil {
		return wharf.Result{}, err
	}
	if err := reply(d, stored.ID); err != nil {
		return wharf.Result{}, err
	}
	return wharf.Result{Summary: d.Summary(), Metrics: metrics(d.Counts)}, nil
}

// report passes progress on. That nobody could be told is no reason to stop.
func report(fraction float64, doing string) { _ = wharf.Progress(fraction, doing) }

// reply appends the answer: for people, for programs, and the whole as an Artifact.
func reply(d *digest.Digest, artifactID string) error {
	short := *d
	short.Outline = d.Outline[:min(len(d.Outline), inMessage)]
	short.Links = d.Links[:min(len(d.Links), inMessage)]
	data, err := wharf.JSONPart(short)
	if err != nil {
		return err
	}
	_, err = wharf.AppendMessage(wharf.Message{
		Role:  "assistant",
		Parts: []wharf.Part{wharf.TextPart(d.Render(inMessage)), data, wharf.ArtifactPart(artifactID)},
	})
	return err
}

func metrics(c digest.Counts) map[string]float64 {
	return map[string]float64{
		"document_bytes": float64(c.Bytes), "words": float64(c.Words),
		"headings": float64(c.Headings), "links": float64(c.Links),
	}
}

var errNoDocument = &wharf.Failure{
	Code: "no_document",
	Message: `there is no document in the input: send a Message with text or artifact_ref parts, ` +
		`or {"text": "…"}, or {"artifact_id": "…"}`,
}

// document returns the text that the Task is about: the text parts and Artifacts of
// a Message, in their order, or what another JSON object names.
func document(task *wharf.Task) (string, error) {
	if m, ok := task.Message(); ok {
		return messageText(m)
	}
	var input map[string]json.RawMessage
	if text := task.Text(); text != "" {
		return text, nil
	}
	if err := task.Decode(&input); err != nil {
		return "", &wharf.Failure{Code: "invalid_input", Message: "the input cannot be read: " + err.Error()}
	}
	var id string
	if json.Unmarshal(input["artifact_id"], &id) == nil && id != "" {
		return artifactText(id)
	}
	if string(input["text"]) == `""` {
		return "", nil
	}
	return "", errNoDocument
}

// messageText reads the public parts only: what it makes of them is public.
func messageText(m wharf.Message) (string, error) {
	var texts []string
	for _, part := range m.Parts {
		if part.Visibility != "" && part.Visibility != "public" {
			continue
		}
		switch part.Type {
		case "text":
			texts = append(texts, part.Text)
		case "artifact_ref":
			text, err := artifactText(part.ArtifactID)
			if err != nil {
				return "", err
			}
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return "", errNoDocument
	}
	return strings.Join(texts, "\n\n"), nil
}

func artifactText(id string) (string, error) {
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(wharf.OpenArtifact(id), maxDocument+1))
	if err != nil {
		return "", fmt.Errorf("reading the artifact: %w", err)
	}
	if n > maxDocument {
		return "", &wharf.Failure{Code: "document_too_large", Message: fmt.Sprintf("the artifact is larger than %d bytes", maxDocument)}
	}
	return text.String(), nil
}
