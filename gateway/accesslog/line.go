package accesslog

import (
	"time"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/abi/jsonw"
)

// Line is what is told of one request. Nothing in it may be a credential: a path comes without
// its query, and without what opens a public path.
type Line struct {
	Time      time.Time // when the request began
	RequestID string
	Client    string // its address
	Actor     string // who the caller is; "" for nobody who is known
	Key       string // the id of its key; "" for a token of an issuer
	Tenant    string
	Method    string
	Operation string // "" where no route answers
	Template  string // the route's path
	Path      string
	Status    int
	In, Out   int64 // bytes of the bodies; of a stream, those on its connection
	Duration  time.Duration
	Protocol  string
	Agent     string
}

// The most bytes of what clients write freely that a line has.
const (
	maxMethod = 32
	maxPath   = 1024
	maxAgent  = 256
)

// append writes the line, with the line's end.
func (l *Line) append(b []byte) []byte {
	o := jsonw.Begin(b)
	o.Time("time", l.Time)
	o.Text("request_id", l.RequestID)
	o.Text("client", l.Client)
	o.Optional("actor", l.Actor)
	o.Optional("key_id", l.Key)
	o.Optional("tenant_id", l.Tenant)
	o.Text("method", cut(l.Method, maxMethod))
	o.Optional("operation", l.Operation)
	o.Optional("template", l.Template)
	o.Text("path", cut(l.Path, maxPath))
	o.Int("status", int64(l.Status))
	o.Int("bytes_in", l.In)
	o.Int("bytes_out", l.Out)
	o.Int("duration_us", l.Duration.Microseconds())
	o.Text("protocol", l.Protocol)
	o.Optional("user_agent", cut(l.Agent, maxAgent))
	return append(o.End(), '\n')
}

// cut shortens a text to so many bytes, and shows that it did.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
