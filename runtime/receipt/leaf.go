package receipt

import (
	"crypto/sha256"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// leafTime is how the time of a call is written in its leaf: the log keeps
// microseconds, so a leaf never tells more.
const leafTime = "2006-01-02T15:04:05.000000Z"

// AppendLeaf appends the content of the leaf that stands for e in the tree of its
// record: canonical JSON with the hashes of its request and answer, so that it
// can be shown without them. Where the event lies in a log is not part of it.
func AppendLeaf(b []byte, e *journal.Entry) []byte {
	request, answer := sha256.Sum256(e.Request), sha256.Sum256(e.Answer)
	return appendLeaf(b, e, request, answer)
}

func appendLeaf(b []byte, e *journal.Entry, request, answer abi.Hash) []byte {
	o := jsonw.Begin(b)
	o.Hash("answer", (*[32]byte)(&answer))
	o.Name("at")
	o.B = append(appendLeafTime(append(o.B, '"'), e.At), '"', ',')
	o.Text("call", e.Call)
	o.Text("effect", string(e.Effect))
	o.Rounded("index", int64(e.Index))
	o.Text("key", e.Key)
	o.Hash("request", (*[32]byte)(&request))
	o.Rounded("status", int64(e.Status))
	return o.End()
}

func appendLeafTime(b []byte, at time.Time) []byte { return at.UTC().AppendFormat(b, leafTime) }

// Leaves returns the leaf hashes of a record's entries, which are closed and in order.
func Leaves(entries []journal.Entry) []abi.Hash {
	hashes := make([]abi.Hash, len(entries))
	var b []byte
	for i := range entries {
		b = AppendLeaf(b[:0], &entries[i])
		hashes[i] = HashLeaf(b)
	}
	return hashes
}

// ProgramHash returns the hash of a program's canonical JSON, as it stands in a
// receipt's metadata.
func ProgramHash(p *journal.Program) string { return journal.HashOf(appendProgram(nil, p)) }

// appendProgram writes a program. What programs of before did not have is left out
// where it is missing, so that theirs have the hash that they always had.
func appendProgram(b []byte, p *journal.Program) []byte {
	o := jsonw.Begin(b)
	o.Text("abi", p.ABI)
	o.Optional("arch", p.Arch)
	o.Text("engine", p.Engine)
	o.Text("export", p.Export)
	o.Member("limits", func(b []byte) []byte { return appendLimits(b, &p.Limits) })
	o.Text("module", p.Module)
	o.Text("persona", p.Persona)
	o.Text("plugin", p.Plugin)
	o.Optional("rewriter", p.Rewriter)
	o.Base64("seed", p.Seed)
	if p.Skill != nil {
		o.Member("skill", func(b []byte) []byte { return appendSkill(b, p.Skill) })
	}
	if p.Skills != nil {
		jsonw.List(&o, "skills", p.Skills, appendTaskSkill)
	}
	return o.End()
}

func appendSkill(b []byte, s *journal.Skill) []byte {
	o := jsonw.Begin(b)
	o.Text("id", s.ID)
	if schema := s.OutputSchema.Clone(); schema != nil && schema.Canonicalize() == nil {
		o.JSON("output_schema", schema)
	}
	return o.End()
}

func appendTaskSkill(b []byte, s *abi.TaskSkill) []byte {
	o := jsonw.Begin(b)
	if s.AllowedTools != nil {
		jsonw.List(&o, "allowed_tools", s.AllowedTools, appendText)
	}
	o.Text("archive", s.Archive)
	o.Text("description", s.Description)
	o.Text("digest", s.Digest)
	o.Text("name", s.Name)
	if s.Paths != nil {
		jsonw.List(&o, "paths", s.Paths, appendText)
	}
	o.Text("version", s.Version)
	o.Optional("when_to_use", s.WhenToUse)
	return o.End()
}

func appendText(b []byte, text *string) []byte { return jsonw.String(b, *text) }

func appendLimits(b []byte, l *journal.Limits) []byte {
	o := jsonw.Begin(b)
	count(&o, "depth", l.Depth)
	if l.Gas != 0 {
		o.Number("gas", float64(l.Gas))
	}
	o.Rounded("host_calls", int64(l.HostCalls))
	o.Number("memory_bytes", float64(l.MemoryBytes))
	o.Rounded("output_bytes", l.OutputBytes)
	o.Rounded("payload_bytes", int64(l.PayloadBytes))
	return o.End()
}
