package answers

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// maxLine bounds a line of a stream.
const maxLine = 16 << 20

// Event is one dispatched event of a text/event-stream.
type Event struct{ ID, Type, Data string }

// Events reads a text/event-stream as the HTML standard parses it, except that an event's id is its
// own and not inherited: the protocols ask for one in each.
type Events struct{ lines *bufio.Reader }

// NewEvents returns a reader of a stream's bytes.
func NewEvents(r io.Reader) *Events { return &Events{bufio.NewReader(r)} }

// Next returns the next event that carries data. Its error is io.EOF when the server ended the
// stream.
func (e *Events) Next() (Event, error) {
	var ev Event
	var data []string
	for {
		line, err := e.line()
		if err != nil {
			return Event{}, err
		}
		if line == "" {
			if data != nil {
				ev.Data = strings.Join(data, "\n")
				return ev, nil
			}
			ev = Event{} // a comment, or fields without data: nothing is dispatched
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			ev.ID = value
		case "event":
			ev.Type = value
		case "data":
			data = append(data, value)
		}
	}
}

func (e *Events) line() (string, error) {
	var line []byte
	for {
		part, err := e.lines.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(line) < maxLine {
			continue
		}
		if err != nil {
			return "", err
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), nil
	}
}
