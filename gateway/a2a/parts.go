package a2a

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// mark is what of a message a Message has no members for. It is in its metadata as "a2a", so that
// the history gives back what was sent.
type mark struct {
	MessageID        string           `json:"message_id"`
	Metadata         jsontext.Value   `json:"metadata,omitzero"`
	Extensions       []string         `json:"extensions,omitzero"`
	ReferenceTaskIDs []string         `json:"reference_task_ids,omitzero"`
	PartMetadata     []jsontext.Value `json:"part_metadata,omitzero"` // of each part, null for none
}

type marked struct {
	A2A mark `json:"a2a"`
}

// check refuses what is no message of a client.
func (m *message) check() error {
	switch {
	case m.MessageID == "":
		return invalid("message.messageId", "a message has a messageId")
	case len(m.MessageID) > maxID:
		return invalid("message.messageId", "a messageId has at most %d bytes", maxID)
	case m.Role != a2a.MessageRoleUser:
		return invalid("message.role", "the role of a message that is sent here is the user's")
	case len(m.Parts) == 0:
		return invalid("message.parts", "a message has a part at least")
	case !isObject(m.Metadata):
		return invalid("message.metadata", "metadata is an object")
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.kinds() != 1 {
			return invalid("message.parts", "part %d has to have one of text, raw, url and data", i)
		}
		if !isObject(p.Metadata) {
			return invalid("message.parts", "the metadata of part %d is an object", i)
		}
	}
	return nil
}

// maxID bounds the ids that clients choose: a Retry key and a reference hold them.
const maxID = 255

func isObject(v jsontext.Value) bool { return v == nil || v.Kind() == '{' || v.Kind() == 'n' }

func invalid(param, format string, args ...any) *abi.Error {
	err := refuse(reasonParams, format, args...)
	err.Param = param
	return err
}

// input returns a message as a Message is made of it. Bytes become Artifacts first, in the Workspace.
func (c *call) input(m *message, workspace string, retry *api.Write) (*abi.MessageInput, error) {
	in := &abi.MessageInput{Role: abi.RoleUser, Parts: make([]abi.Part, len(m.Parts))}
	is := mark{MessageID: m.MessageID, Metadata: m.Metadata, Extensions: m.Extensions, ReferenceTaskIDs: m.ReferenceTaskIDs}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Metadata != nil && is.PartMetadata == nil {
			is.PartMetadata = make([]jsontext.Value, len(m.Parts))
		}
		if is.PartMetadata != nil {
			is.PartMetadata[i] = p.Metadata
		}
		to, err := c.partIn(p, workspace, retry.Part("part-"+strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		in.Parts[i] = to
	}
	text, err := json.Marshal(marked{is}, json.Deterministic(true))
	in.Metadata = text
	return in, err
}

// partIn returns a part as a Message has it.
func (c *call) partIn(p *part, workspace string, retry *api.Write) (abi.Part, error) {
	switch {
	case p.Text != nil:
		return abi.Part{Type: abi.PartText, Text: p.Text}, nil
	case p.Data != nil:
		return abi.Part{Type: abi.PartJSON, Value: p.Data}, nil
	case p.URL != nil:
		return abi.Part{Type: abi.PartFileRef, URI: *p.URL, MimeType: cmp.Or(p.MediaType, mediaBytes), Name: p.Filename}, nil
	}
	if err := c.r.Require(scopeUploads); err != nil {
		return abi.Part{}, err
	}
	media := cmp.Or(p.MediaType, mediaBytes)
	made, err := c.core.RegisterArtifact(c.r.Context(), c.r.Caller, retry, abi.RegisterArtifactRequest{Kind: kindOf(media), MimeType: media,
		Visibility: abi.VisibilityPublic, Name: p.Filename, WorkspaceID: workspace}, bytes.NewReader(p.Raw))
	if err != nil {
		return abi.Part{}, err
	}
	if strings.HasPrefix(media, "image/") {
		return abi.Part{Type: abi.PartImageRef, ArtifactID: made.ID, MimeType: media}, nil
	}
	return abi.Part{Type: abi.PartArtifactRef, ArtifactID: made.ID, Name: p.Filename}, nil
}

const (
	mediaBytes   = "application/octet-stream"
	scopeUploads = "artifacts:write"
)

// kindOf is the kind of an Artifact of a media type.
func kindOf(media string) abi.ArtifactKind {
	if strings.HasPrefix(media, "image/") {
		return abi.ArtifactImage
	}
	return abi.ArtifactFile
}

// messageOut returns a Message of a Task as clients of the protocol read it; false for one that
// holds nothing for them, such as a tool's answer to a model.
func (v *viewer) messageOut(m *abi.Message, contextID string) (message, bool) {
	to := message{MessageID: m.ID, TaskID: m.TaskID, ContextID: contextID, Role: a2a.MessageRoleAgent}
	switch m.Role {
	case abi.RoleUser:
		to.Role = a2a.MessageRoleUser
	case abi.RoleAssistant, abi.RoleAgent:
	default:
		return to, false
	}
	var is marked
	if m.Metadata != nil && json.Unmarshal(m.Metadata, &is) == nil && is.A2A.MessageID != "" {
		to.MessageID, to.Metadata, to.Extensions, to.ReferenceTaskIDs = is.A2A.MessageID, is.A2A.Metadata, is.A2A.Extensions, is.A2A.ReferenceTaskIDs
	}
	for i := range m.Parts {
		p, ok := v.partOut(&m.Parts[i])
		if !ok {
			continue
		}
		if len(is.A2A.PartMetadata) == len(m.Parts) && is.A2A.PartMetadata[i].Kind() == '{' {
			p.Metadata = is.A2A.PartMetadata[i]
		}
		to.Parts = append(to.Parts, p)
	}
	return to, len(to.Parts) > 0
}

// partOut returns a part of a Message as the protocol has it; false for one that it has no words for,
// and for one that this reader may not see.
func (v *viewer) partOut(p *abi.Part) (part, bool) {
	if p.Redacted {
		return part{}, false
	}
	switch p.Type {
	case abi.PartText:
		return part{Text: p.Text}, p.Text != nil
	case abi.PartJSON:
		return part{Data: p.Value}, p.Value != nil
	case abi.PartFileRef:
		return part{URL: &p.URI, MediaType: p.MimeType, Filename: p.Name}, true
	case abi.PartArtifactRef, abi.PartImageRef:
		url := v.contentURL(p.ArtifactID)
		return part{URL: &url, MediaType: p.MimeType, Filename: p.Name}, true
	}
	return part{}, false
}

// contentURL is where the content of an Artifact is read with the same key.
func (v *viewer) contentURL(id string) string { return v.base + "/v1/artifacts/" + id + "/content" }

// inlined is how large an Artifact is at most whose content is in what tells of it. Others are read
// where it says.
const inlined = 64 << 10

// contentOut returns content as a part.
func contentOut(content []byte, media string) part {
	base, _, _ := strings.Cut(media, ";")
	isJSON := base == "application/json" || strings.HasSuffix(base, "+json")
	switch {
	case isJSON && jsontext.Value(content).IsValid() && abi.TooDeep(content, abi.MaxDepth) < 0:
		return part{Data: slices.Clone(content), MediaType: media}
	case (isJSON || strings.HasPrefix(base, "text/")) && utf8.Valid(content):
		text := string(content)
		return part{Text: &text, MediaType: media}
	}
	return part{Raw: append([]byte{}, content...), MediaType: media}
}
