package wharf

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
	"github.com/wharf-dev/wharf/sdk/go/internal/scan"
)

// Connector is whose deliveries a plugin normalizes.
type Connector struct {
	ID              string
	Name            string
	Provider        string
	WorkspaceID     string
	TargetPersonaID string
	TargetSessionID string
	EventKinds      []string        // those that are wanted; a * at the end is for any end
	Settings        json.RawMessage // the plugin's own; nil when there are none
}

// Wants reports whether deliveries of the kind are wanted: it is named, it begins with
// what is named with a * at its end, or no kinds are named at all.
func (c *Connector) Wants(kind string) bool {
	for _, k := range c.EventKinds {
		if begin, open := strings.CutSuffix(k, "*"); k == kind || open && strings.HasPrefix(kind, begin) {
			return true
		}
	}
	return len(c.EventKinds) == 0
}

// Delivery is what a provider has sent.
type Delivery struct {
	ID         string // the Delivery's own
	DeliveryID string // the provider's
	CreatedAt  string // when it was received, in RFC 3339
	Text       string // the body, when it is UTF-8
	Body       []byte // the body otherwise
	header     []headerLine
}

type headerLine struct{ name, value string }

// Header returns the value of a header, "" when there is none. Names are written in
// lower case.
func (d *Delivery) Header(name string) string {
	for _, line := range d.header {
		if line.name == name {
			return line.value
		}
	}
	return ""
}

// Headers calls f for each header.
func (d *Delivery) Headers(f func(name, value string)) {
	for _, line := range d.header {
		f(line.name, line.value)
	}
}

// Normalized is what a delivery means. With none of the members it means nothing and
// is done with.
type Normalized struct {
	Tasks    []ConnectorTask
	Messages []ConnectorMessage
	Events   []ConnectorEvent
	// Ignored says in a word why the delivery means nothing.
	Ignored string
}

// ConnectorTask is a Task to submit: with a Message, or with another JSON object as
// its input.
type ConnectorTask struct {
	Message   *Message
	Input     json.RawMessage // not with Message
	PersonaID string          // empty: the Connector's target
	// Thread is what belongs to one Session, such as a pull request; empty: the
	// Connector's target Session, or one for all.
	Thread string
	// OrderKey orders Tasks when the Connector is ordered; empty: Thread.
	OrderKey string
	Metadata json.RawMessage // an object, or nil
}

// ConnectorMessage is a Message to append to the Session of a thread.
type ConnectorMessage struct {
	Message Message
	Thread  string
}

// ConnectorEvent is an event to tell, of a kind of the plugin's own as with [Emit].
type ConnectorEvent struct {
	Kind    string
	Payload json.RawMessage // an object, or nil
}

// Normalizer says what a delivery means. An error puts the delivery aside, where
// people can look at it and try again; return a *[Failure] to choose its code.
type Normalizer func(*Delivery) (Normalized, error)

// CodeSettings is the code of the failure with which [Normalize] puts deliveries
// aside whose Connector has settings that do not serve.
const CodeSettings = "invalid_settings"

// Normalize reads a batch of deliveries, calls prepare for their Connector and what
// that returns for each delivery, and tells the host what they mean. The result is
// what an export returns.
//
//	//go:wasmexport tickets
//	func tickets() int32 { return wharf.Normalize(prepare) }
//
// A delivery that makes the Normalizer fail or panic is put aside, and the others are
// not held up by it.
func Normalize(prepare func(*Connector) (Normalizer, error)) int32 {
	status, answer := hostcall.Deliveries(nil)
	if check(hostcall.NameDeliveries, status, answer) != nil {
		return 1
	}
	connector, deliveries, err := readDeliveries(answer)
	if err != nil {
		return 1
	}
	status, answer = hostcall.Normalized(normalizeAll(prepare, connector, deliveries))
	return told(check(hostcall.NameNormalized, status, answer))
}

func normalizeAll(prepare func(*Connector) (Normalizer, error), c *Connector, all []Delivery) []byte {
	normalize, err := prepare(c)
	if err != nil {
		settings := &Failure{Code: CodeSettings, Message: err.Error()}
		normalize = func(*Delivery) (Normalized, error) { return Normalized{}, settings }
	}
	room := 64
	for i := range all {
		room += 512 + len(all[i].Text)
	}
	out := append(make([]byte, 0, room), `{"results":[`...)
	for i := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendResult(out, normalize, &all[i])
	}
	return append(out, `]}`...)
}

func appendResult(b []byte, normalize Normalizer, d *Delivery) []byte {
	n, err := normalizeOne(normalize, d)
	b = scan.AppendString(append(b, `{"id":`...), d.ID)
	if err != nil {
		f := failure(err)
		b = scan.AppendString(append(b, `,"failure":{"code":`...), f.Code)
		b = scan.AppendString(append(b, `,"message":`...), f.Message)
		return append(b, `}}`...)
	}
	b = appendEach(b, "tasks", n.Tasks, appendConnectorTask)
	b = appendEach(b, "messages", n.Messages, appendConnectorMessage)
	b = appendEach(b, "events", n.Events, appendConnectorEvent)
	return append(appendText(b, "ignored", n.Ignored), '}')
}

// normalizeOne turns a panic into a failure with its reason; the stack goes to the log.
func normalizeOne(normalize Normalizer, d *Delivery) (n Normalized, err error) {
	defer func() {
		if p := recover(); p != nil {
			_ = Log(LevelError, "panic: %v\n%s", p, debug.Stack())
			err = &Failure{Code: CodePanic, Message: fmt.Sprintf("the plugin panicked: %v", p)}
		}
	}()
	return normalize(d)
}

// appendEach appends a member that is a list, and left out when it is empty.
func appendEach[T any](b []byte, name string, all []T, one func([]byte, *T) []byte) []byte {
	if len(all) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":[`...)
	for i := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, &all[i])
	}
	return append(b, ']')
}

func appendConnectorTask(b []byte, t *ConnectorTask) []byte {
	b = append(b, `{"input":`...)
	if t.Message != nil {
		b = t.Message.append(b)
	} else {
		b = append(b, t.Input...)
	}
	b = appendText(b, "persona_id", t.PersonaID)
	b = appendText(b, "thread", t.Thread)
	b = appendText(b, "order_key", t.OrderKey)
	return append(appendRaw(b, "metadata", t.Metadata), '}')
}

func appendConnectorMessage(b []byte, m *ConnectorMessage) []byte {
	b = m.Message.append(append(b, `{"message":`...))
	return append(appendText(b, "thread", m.Thread), '}')
}

func appendConnectorEvent(b []byte, e *ConnectorEvent) []byte {
	b = scan.AppendString(append(b, `{"kind":`...), e.Kind)
	return append(appendRaw(b, "payload", e.Payload), '}')
}

// readDeliveries reads the answer of the host call "connector.deliveries" in one pass.
func readDeliveries(answer []byte) (*Connector, []Delivery, error) {
	c, all := &Connector{}, []Delivery(nil)
	var header []headerLine // of all, one behind the other
	r := scan.NewReader(answer)
	for r.Object(); r.More('}'); {
		switch r.Key() {
		case "connector":
			c.read(r)
		case "deliveries":
			for r.Array(); r.More(']'); {
				all = append(all, Delivery{})
				header = all[len(all)-1].read(r, header)
			}
		default:
			r.Raw()
		}
	}
	if r.Err() != nil {
		return nil, nil, fmt.Errorf("%s: reading the answer: %w", hostcall.NameDeliveries, r.Err())
	}
	return c, all, nil
}

func (c *Connector) read(r *scan.Reader) {
	for r.Object(); r.More('}'); {
		switch r.Key() {
		case "id":
			c.ID = r.String()
		case "name":
			c.Name = r.String()
		case "provider":
			c.Provider = r.String()
		case "workspace_id":
			c.WorkspaceID = r.String()
		case "target_persona_id":
			c.TargetPersonaID = r.String()
		case "target_session_id":
			c.TargetSessionID = r.String()
		case "event_kinds":
			for r.Array(); r.More(']'); {
				c.EventKinds = append(c.EventKinds, r.String())
			}
		case "settings":
			c.Settings = r.Raw()
		default:
			r.Raw()
		}
	}
}

// read reads a delivery. Its headers are put behind those of others.
func (d *Delivery) read(r *scan.Reader, header []headerLine) []headerLine {
	for r.Object(); r.More('}'); {
		switch r.Key() {
		case "id":
			d.ID = r.String()
		case "delivery_id":
			d.DeliveryID = r.String()
		case "created_at":
			d.CreatedAt = r.String()
		case "text":
			d.Text = r.String()
		case "body":
			d.Body, _ = base64.StdEncoding.DecodeString(r.String()) // the host's own encoding
		case "header":
			from := len(header)
			for r.Object(); r.More('}'); {
				header = append(header, headerLine{r.Key(), r.String()})
			}
			d.header = header[from:len(header):len(header)]
		default:
			r.Raw()
		}
	}
	return header
}

// Found is one thing that a poll has found. ID is how it is recognized when it is
// found again.
type Found struct {
	ID     string            `json:"id"`
	Header map[string]string `json:"header,omitempty"`
	Text   string            `json:"text,omitempty"`
	Body   []byte            `json:"body,omitempty"` // not with Text
}

// maxFound is how many deliveries the host takes at a time.
const maxFound = 1000

// Deliver hands what a poll has found to the Task's Connector, which takes each as if
// the provider had sent it, and leaves out what was found before. It returns how many
// were new. When it returns, they are on disk.
func Deliver(found ...Found) (received int, err error) {
	for len(found) > 0 {
		n := min(len(found), maxFound)
		var answer struct {
			Received int `json:"received"`
			Deduped  int `json:"deduped"`
		}
		err := ask(hostcall.NameDeliver, hostcall.Deliver, struct {
			Deliveries []Found `json:"deliveries"`
		}{found[:n]}, &answer)
		if err != nil {
			return received, err
		}
		received, found = received+answer.Received, found[n:]
	}
	return received, nil
}
