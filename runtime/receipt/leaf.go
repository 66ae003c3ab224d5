package receipt

import (
	"crypto/sha256"
	"time"

	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/storage"
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

func appendLeaf(b []byte, e *journal.Entry, request, answer storage.Hash) []byte {
	o := begin(b)
	o.hash("answer", answer)
	o.name("at")
	o.b = append(appendLeafTime(append(o.b, '"'), e.At), '"', ',')
	o.text("call", e.Call)
	o.text("effect", string(e.Effect))
	o.integer("index", int64(e.Index))
	o.text("key", e.Key)
	o.hash("request", request)
	o.integer("status", int64(e.Status))
	return o.end()
}

func appendLeafTime(b []byte, at time.Time) []byte { return at.UTC().AppendFormat(b, leafTime) }

// hash writes a hash as "sha256:" and hex.
func (o *object) hash(name string, h storage.Hash) {
	o.name(name)
	o.b = append(o.b, `"sha256:`...)
	for _, c := range h {
		o.b = append(o.b, hexDigits[c>>4], hexDigits[c&15])
	}
	o.b = append(o.b, '"', ',')
}

// Leaves returns the leaf hashes of a record's entries, which are closed and in order.
func Leaves(entries []journal.Entry) []storage.Hash {
	hashes := make([]storage.Hash, len(entries))
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
	o := begin(b)
	o.text("abi", p.ABI)
	o.optional("arch", p.Arch)
	o.text("engine", p.Engine)
	o.text("export", p.Export)
	o.member("limits", func(b []byte) []byte { return appendLimits(b, &p.Limits) })
	o.text("module", p.Module)
	o.text("persona", p.Persona)
	o.text("plugin", p.Plugin)
	o.optional("rewriter", p.Rewriter)
	o.name("seed")
	o.b = append(appendBase64(append(o.b, '"'), p.Seed), '"', ',')
	if p.Skill != nil {
		o.member("skill", func(b []byte) []byte { return appendSkill(b, p.Skill) })
	}
	return o.end()
}

func appendSkill(b []byte, s *journal.Skill) []byte {
	o := begin(b)
	o.text("id", s.ID)
	if schema := s.OutputSchema.Clone(); schema != nil && schema.Canonicalize() == nil {
		o.name("output_schema")
		o.b = append(append(o.b, schema...), ',')
	}
	return o.end()
}

func appendLimits(b []byte, l *journal.Limits) []byte {
	o := begin(b)
	o.count("depth", l.Depth)
	if l.Gas != 0 {
		o.number("gas", float64(l.Gas))
	}
	o.integer("host_calls", int64(l.HostCalls))
	o.number("memory_bytes", float64(l.MemoryBytes))
	o.integer("output_bytes", l.OutputBytes)
	o.integer("payload_bytes", int64(l.PayloadBytes))
	return o.end()
}
