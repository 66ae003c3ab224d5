package tool

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// body is that of a response: one message, or a stream of events that may go on for
// ever. It passes on what may be decoded; each message is read whole before that.
type body struct {
	io.ReadCloser
	release func()
	link    *link
	call    *answering     // that the response belongs to; nil for none
	id      jsontext.Value // of the request that has no answer yet; nil for none
	max     int            // bytes of a message

	lines *bufio.Reader // of a stream; nil for one message
	ready []byte        // to be passed on
	err   error         // that comes after it
}

// newBody returns the body of a response to a request of a call, or of none.
func newBody(from io.ReadCloser, contentType string, of *body) *body {
	of.ReadCloser = from
	if strings.HasPrefix(contentType, "text/event-stream") {
		of.lines = bufio.NewReaderSize(from, 4<<10)
	}
	return of
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for len(b.ready) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.ready = nil // before there is another
		b.next()
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	return n, nil
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// next makes the next message ready, or sets the error.
func (b *body) next() {
	if b.lines == nil {
		b.whole()
	} else {
		b.event()
	}
	if errors.Is(b.err, errFlood) || errors.Is(b.err, errLarge) {
		b.ready = nil
		b.link.lost(b.err)
	}
}

// whole reads a body that is one message.
func (b *body) whole() {
	var text []byte
	for b.err == nil {
		if len(text) == cap(text) {
			text = append(make([]byte, 0, 2*cap(text)+4<<10), text...)
		}
		n, err := b.ReadCloser.Read(text[len(text):cap(text)])
		text, b.err = text[:len(text)+n], err
		if len(text) > b.max {
			b.err = errLarge
		}
		if b.err != errLarge && !b.call.take(int64(n)) {
			b.refuse()
			return
		}
	}
	if b.err != io.EOF {
		return
	}
	if pass, err := b.look(text); err != nil {
		b.err = err
	} else {
		b.ready = pass
	}
}

// event reads an event, as far as it is one when the stream ends.
func (b *body) event() {
	var head, data []byte
	held := b.call.held()
	for size := 0; b.err == nil; {
		var line []byte
		line, b.err = b.line(b.max - size)
		size += len(line)
		if !b.call.take(int64(len(line))) {
			b.refuse()
			return
		}
		text := bytes.TrimRight(line, "\r\n")
		if len(text) == 0 {
			break
		}
		name, value, _ := bytes.Cut(text, []byte{':'})
		if string(name) != "data" || len(text) == len(name) {
			head = append(append(head, text...), '\n')
			continue
		}
		if data != nil {
			data = append(data, ' ') // a line break between the tokens of a message
		}
		data = append(data, bytes.TrimSpace(value)...)
	}
	if b.err != nil && b.err != io.EOF {
		return
	}
	if len(data) == 0 {
		b.err = cmp.Or(b.link.flood.one(), b.err)
	} else if pass, err := b.hear(data); err != nil {
		b.err = err
	} else if len(pass) > 0 {
		head = append(append(append(head, "data: "...), pass...), '\n')
	} else if b.call.backTo(held); b.link.heard != nil {
		head = nil // an event without a message would be taken for a bad one
	}
	if len(head) > 0 {
		b.ready = append(head, '\n')
	}
}

// line reads a line of at most so many bytes, with its end.
func (b *body) line(most int) ([]byte, error) {
	var line []byte
	for {
		part, err := b.lines.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, errLarge
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// look decides on a message: it returns what is to be passed on, which is nothing for
// one that is not worth handling.
func (b *body) look(text []byte) ([]byte, error) {
	refused := screen(text, wholeAnswer, b.call)
	if refused == errCrowded { // so that reading its envelope would take long as well
		if b.id == nil {
			return nil, errLarge
		}
		return b.answered(refused), nil
	}
	m, ok := envelope(text)
	switch {
	case !ok:
		return text, nil // which the SDK says, and ends the connection
	case m.method && m.id != nil:
		return text, b.link.flood.request(len(text))
	case m.name == progressed && b.link.progress.take(time.Now(), paramsOf(text)):
		return nil, nil
	case m.method:
		pass, err := b.link.flood.notification(m.name, len(text))
		if !pass {
			text = nil
		}
		return text, err
	}
	if refused != nil {
		text = errorText(m.id, refused)
	}
	if !bytes.Equal(m.id, b.id) {
		return text, b.link.flood.one()
	}
	b.id = nil
	return text, nil
}

// answered is the answer to the call in the place of the server's.
func (b *body) answered(why *jsonrpc.Error) []byte {
	text := errorText(b.id, why)
	b.id = nil
	return text
}

func errorText(id jsontext.Value, why *jsonrpc.Error) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, why.Code, why.Message)
}

// refuse answers the call, and reads no more of what the server says.
func (b *body) refuse() {
	b.err = io.EOF
	if b.id == nil {
		return
	}
	b.ready = b.answered(errBusy)
	if b.lines != nil {
		b.ready = fmt.Appendf(nil, "data: %s\n\n", b.ready)
	}
}

// message is what is known of a message before it is decoded.
type message struct {
	id     jsontext.Value // nil for a notification
	method bool           // it is a request or a notification
	name   string         // of the method
}

// envelope reads the outermost members of a message, in one pass that keeps nothing. It
// reports whether the text is one object, of which the members that count come once.
func envelope(text []byte) (m message, ok bool) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if start, err := d.ReadToken(); err != nil || start.Kind() != '{' {
		return m, false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return m, false
		}
		if err := m.member(d, name.String()); err != nil {
			return m, false
		}
	}
	end, err := d.ReadToken()
	return m, err == nil && end.Kind() == '}'
}

func (m *message) member(d *jsontext.Decoder, name string) error {
	switch name {
	case "method":
		m.method = true
		v, err := d.ReadValue()
		if err == nil && v.Kind() == '"' {
			unquoted, _ := jsontext.AppendUnquote(nil, v)
			m.name = string(unquoted)
		}
		return err
	case "id":
		v, err := d.ReadValue()
		if err == nil && v.Kind() != 'n' {
			m.id = v.Clone()
		}
		return err
	}
	return d.SkipValue()
}
