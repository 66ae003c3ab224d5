package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// Bounds of what is sent within a result: images and sounds, and texts. The rest is linked to.
const (
	mostInline = 1 << 20
	mostText   = 64 << 10
)

// content is one piece of what a tool gives out.
type content struct {
	Type     string       `json:"type"`
	Text     *string      `json:"text,omitzero"`
	Data     string       `json:"data,omitzero"` // in base64
	MimeType string       `json:"mimeType,omitzero"`
	URI      string       `json:"uri,omitzero"`
	Name     string       `json:"name,omitzero"`
	Size     *int64       `json:"size,omitzero"`
	Resource *embedded    `json:"resource,omitzero"`
	Meta     *contentMeta `json:"_meta,omitzero"`
}

// embedded is a resource that comes with what refers to it.
type embedded struct {
	URI      string `json:"uri"`
	MimeType string `json:"mimeType,omitzero"`
	Text     string `json:"text"`
}

// contentMeta is Wharf's own of a piece of content.
type contentMeta struct {
	SHA256 string `json:"wharf.dev/sha256,omitzero"`
}

func textContent(s string) content { return content{Type: "text", Text: &s} }

// callResult is what a call has resulted in.
type callResult struct {
	Content    []content      `json:"content"`
	Structured jsontext.Value `json:"structuredContent,omitzero"`
	IsError    bool           `json:"isError,omitzero"`
	Meta       *callMeta      `json:"_meta,omitzero"`
}

// callMeta says which Task a call was, and which receipt proves it.
type callMeta struct {
	TaskID    string `json:"wharf.dev/taskId,omitzero"`
	ReceiptID string `json:"wharf.dev/receiptId,omitzero"`
	Code      string `json:"wharf.dev/code,omitzero"` // of a failure
}

// failed is the result of a call that has failed in a way that a model may do something about.
func failed(code, message string) callResult {
	return callResult{Content: []content{textContent(message)}, IsError: true, Meta: &callMeta{Code: code}}
}

// ofHost are the codes of failures that are none of the plugin's own: it has trapped, run into a limit,
// or the host could not do its part.
var ofHost = []string{
	abi.FailurePluginMissing, abi.FailurePluginInvalid, abi.FailurePluginTrap, abi.FailurePluginExit, abi.FailurePluginError, abi.FailurePluginTimeout,
	abi.FailurePluginGas, abi.FailurePluginMemory, abi.FailurePluginOutput, abi.FailureOutputTooLarge, abi.FailurePayloadTooLarge, abi.FailureHostCalls,
	abi.FailureDeadline, abi.FailureAttempts, abi.FailureDivergence, abi.FailureReplayMissing, abi.FailureSkillOutput, abi.FailureUnreadable,
	abi.FailureDelivery, abi.FailureHost,
}

// result answers a call with what its Task has resulted in.
func (a *Adapter) result(ctx context.Context, q *request, t *abi.Task) (sdk.Result, error) {
	res, err := a.resultOf(ctx, q, t)
	if err != nil {
		return nil, err
	}
	return q.reply(res)
}

// resultOf returns what a Task that has ended has resulted in. A failure that is none of the plugin's own
// is an error.
func (a *Adapter) resultOf(ctx context.Context, q *request, t *abi.Task) (callResult, error) {
	meta := &callMeta{TaskID: t.ID, ReceiptID: t.ReceiptID}
	switch {
	case t.Status == abi.TaskCanceled:
		res := failed("canceled", "the task was canceled")
		res.Meta.TaskID, res.Meta.ReceiptID = meta.TaskID, meta.ReceiptID
		return res, nil
	case t.Failure != nil && slices.Contains(ofHost, t.Failure.Code):
		return callResult{}, refuse(jsonrpc.CodeInternal, t.Failure.Message, taskError{t.ID, t.Failure})
	}
	ctx = api.Together(ctx)
	v, err := a.core.Get(ctx, q.caller, abi.ObjectOutcome, t.OutcomeID)
	if err != nil {
		return callResult{}, err
	}
	var out abi.Outcome
	if err := json.Unmarshal(v.JSON, &out); err != nil {
		return callResult{}, fmt.Errorf("reading outcome %s: %w", t.OutcomeID, err)
	}
	res := callResult{Content: []content{}, Meta: meta}
	if err := a.fill(ctx, q, &res, &out); err != nil {
		return callResult{}, err
	}
	if t.Failure != nil {
		res.IsError, res.Structured, meta.Code = true, nil, t.Failure.Code
		res.Content = append(res.Content, textContent(t.Failure.Message))
		return res, nil
	}
	if len(res.Content) == 0 {
		res.Content = append(res.Content, textContent(out.Summary))
	}
	return res, nil
}

// taskError is the data of an error about a Task that the host has failed.
type taskError struct {
	TaskID  string       `json:"task_id"`
	Failure *abi.Failure `json:"failure"`
}

// fill puts what a Task has said and made into a result: each part of its Messages in order, then the
// Artifacts that no part refers to. The last json part is the structured content, and a text too for
// clients that read no other, unless a text was said anyway.
func (a *Adapter) fill(ctx context.Context, q *request, res *callResult, out *abi.Outcome) error {
	var referred []string
	said := false
	var structured jsontext.Value
	for _, text := range out.Messages {
		var m abi.Message
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("reading a message of outcome %s: %w", out.ID, err)
		}
		for i := range m.Parts {
			p := &m.Parts[i]
			switch {
			case p.Redacted:
			case p.Type == abi.PartText && p.Text != nil:
				said = true
				res.Content = append(res.Content, textContent(*p.Text))
			case p.Type == abi.PartJSON && len(p.Value) > 0:
				structured = p.Value
			case p.ArtifactID != "":
				referred = append(referred, p.ArtifactID)
				piece, err := a.artifact(ctx, q, p.ArtifactID)
				if err != nil {
					return err
				}
				res.Content = append(res.Content, piece...)
			case p.URI != "" && p.Text != nil:
				res.Content = append(res.Content, content{Type: "resource", Resource: &embedded{URI: p.URI, MimeType: p.MimeType, Text: *p.Text}})
			case p.URI != "":
				res.Content = append(res.Content, content{Type: "resource_link", URI: p.URI, Name: nameOf(p.Name, p.URI), MimeType: p.MimeType})
			}
		}
	}
	for _, id := range out.ArtifactIDs {
		if slices.Contains(referred, id) {
			continue
		}
		piece, err := a.artifact(ctx, q, id)
		if err != nil {
			return err
		}
		res.Content = append(res.Content, piece...)
	}
	if len(structured) == 0 {
		return nil
	}
	if structured.Kind() == '{' || q.stateless { // only an object is structured content before 2026-07-28
		res.Structured = structured
	}
	if !said {
		res.Content = append([]content{textContent(string(structured))}, res.Content...)
	}
	return nil
}

func nameOf(name, uri string) string {
	if name != "" {
		return name
	}
	return uri[strings.LastIndexByte(strings.TrimRight(uri, "/"), '/')+1:]
}

// artifactURI is the URI of an Artifact among the server's resources.
func artifactURI(id string) string { return "wharf://artifacts/" + id }

// artifact returns an Artifact as content; nothing when the caller may not see it.
func (a *Adapter) artifact(ctx context.Context, q *request, id string) ([]content, error) {
	v, blob, err := a.core.OpenArtifact(ctx, q.caller, id)
	if is, ok := errors.AsType[*abi.Error](err); ok && (is.Code == abi.CodeResourceNotFound || is.Code == abi.CodePermissionDenied) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if blob != nil {
		defer func() { _ = blob.Close() }()
	}
	var of abi.Artifact
	if err := json.Unmarshal(v.JSON, &of); err != nil {
		return nil, fmt.Errorf("reading artifact %s: %w", id, err)
	}
	link := content{Type: "resource_link", URI: artifactURI(id), Name: nameOf(of.Name, id), MimeType: of.MimeType, Size: of.SizeBytes}
	if of.SHA256 != nil {
		link.Meta = &contentMeta{*of.SHA256}
	}
	if blob == nil {
		return []content{link}, nil
	}
	kind, _, _ := strings.Cut(of.MimeType, "/")
	switch {
	case (kind == "image" || kind == "audio") && blob.Size() <= mostInline:
		data, err := io.ReadAll(blob)
		if err != nil {
			return nil, fmt.Errorf("reading artifact %s: %w", id, err)
		}
		return []content{{Type: kind, Data: base64.StdEncoding.EncodeToString(data), MimeType: of.MimeType}}, nil
	case isText(of.MimeType) && blob.Size() <= mostText:
		data, err := io.ReadAll(blob)
		if err != nil {
			return nil, fmt.Errorf("reading artifact %s: %w", id, err)
		}
		if utf8.Valid(data) {
			return []content{{Type: "resource", Resource: &embedded{URI: artifactURI(id), MimeType: of.MimeType, Text: string(data)}}}, nil
		}
	}
	return []content{link}, nil
}

// isText reports whether content of a media type is text.
func isText(media string) bool {
	media, _, err := mime.ParseMediaType(media)
	return err == nil && (strings.HasPrefix(media, "text/") || media == "application/json" || strings.HasSuffix(media, "+json") ||
		media == "application/xml" || strings.HasSuffix(media, "+xml") && !strings.HasPrefix(media, "image/"))
}
