package wharf

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// Frame is what comes over a WebSocket: docs/websocket.md says which there are.
type Frame struct {
	Type string          // such as hello, event, ack, error, request, tool.call
	ID   string          // of the command that an ack or error answers
	Text json.RawMessage // all of it
}

// CloseError says why the node has closed a WebSocket: 1000 when a Task has ended, 1001 when it
// drains. Connect again after the last event's id.
type CloseError struct {
	Code   int
	Reason string
}

// Error says the code and the reason.
func (e *CloseError) Error() string {
	return fmt.Sprintf("wharf: the node has closed the socket: %d %s", e.Code, e.Reason)
}

// Socket is a WebSocket to a Session. One goroutine may receive while others send. Somebody has
// to receive: the node closes sockets that do not answer its pings.
type Socket struct {
	conn    io.ReadWriteCloser
	reader  *bufio.Reader
	release func() bool

	writing sync.Mutex
	sent    int
}

// Connect opens a WebSocket to a Session. Its events come after the one with the id after, or from
// now on when it is "". The socket is closed when ctx ends.
func (r SessionsResource) Connect(ctx context.Context, sessionID, after string) (*Socket, error) {
	target, err := r.c.target(OpConnectSession.Path, []string{sessionID}, nil)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, 16)
	rand.Read(nonce)
	header := http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {base64.StdEncoding.EncodeToString(nonce)},
	}
	if after != "" {
		header.Set("Last-Event-ID", after)
	}
	response, err := r.c.once(ctx, http.MethodGet, target, nil, 0, header)
	if err != nil {
		return nil, err
	}
	conn, ok := response.Body.(io.ReadWriteCloser)
	if response.StatusCode != http.StatusSwitchingProtocols || !ok {
		response.Body.Close()
		return nil, fmt.Errorf("wharf: %s does not open a WebSocket: %s", target, response.Status)
	}
	s := &Socket{conn: conn, reader: bufio.NewReader(conn)}
	s.release = context.AfterFunc(ctx, func() { _ = conn.Close() })
	return s, nil
}

// writes are the commands that take an idempotency key.
var writes = []string{"message", "task.submit", "task.cancel", "session.truncate", "input", "authorization", "approval"}

// Send sends a command and returns the id that its ack or error will have. members are those of
// the command but for type and id; a write gets an idempotency_key unless it has one.
func (s *Socket) Send(command string, members map[string]any) (id string, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.sent++
	frame := map[string]any{"id": strconv.Itoa(s.sent)}
	if slices.Contains(writes, command) {
		frame["idempotency_key"] = newKey()
	}
	for name, member := range members {
		frame[name] = member
	}
	frame["type"] = command
	text, err := json.Marshal(frame)
	if err != nil {
		return "", fmt.Errorf("wharf: encoding a command: %w", err)
	}
	id, _ = frame["id"].(string)
	return id, s.write(opText, text)
}

// Receive returns the next frame. Its error is a *[CloseError] when the node has closed the socket.
func (s *Socket) Receive() (*Frame, error) {
	text, err := s.message()
	if err != nil {
		return nil, err
	}
	f := &Frame{Text: text}
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("wharf: reading a frame: %w", err)
	}
	return f, nil
}

// UnmarshalJSON takes what each frame has.
func (f *Frame) UnmarshalJSON(text []byte) error {
	var has struct{ Type, ID string }
	if err := json.Unmarshal(text, &has); err != nil {
		return err
	}
	f.Type, f.ID = has.Type, has.ID
	return nil
}

// Close closes the socket.
func (s *Socket) Close() error {
	s.release()
	s.writing.Lock()
	_ = s.write(opClose, binary.BigEndian.AppendUint16(nil, 1000)) // it may be closed already
	s.writing.Unlock()
	return s.conn.Close()
}

// The kinds of a WebSocket's frames: RFC 6455, section 5.2.
const (
	opContinued = 0
	opText      = 1
	opClose     = 8
	opPing      = 9
	opPong      = 10
)

const longestMessage = 64 << 20

// message reads one message, and answers the pings before it.
func (s *Socket) message() ([]byte, error) {
	var message []byte
	for {
		op, final, payload, err := s.read()
		if err != nil {
			return nil, fmt.Errorf("wharf: reading the socket: %w", err)
		}
		switch op {
		case opPing:
			s.writing.Lock()
			err = s.write(opPong, payload)
			s.writing.Unlock()
			if err != nil {
				return nil, err
			}
		case opPong:
		case opClose:
			return nil, closed(payload)
		case opText, opContinued:
			if message = append(message, payload...); len(message) > longestMessage {
				return nil, errors.New("wharf: a message of the node is too long")
			}
			if final {
				return message, nil
			}
		default:
			return nil, fmt.Errorf("wharf: the node has sent a frame of the kind %d", op)
		}
	}
}

func closed(payload []byte) error {
	if len(payload) < 2 {
		return &CloseError{Code: 1005}
	}
	return &CloseError{int(binary.BigEndian.Uint16(payload)), string(payload[2:])}
}

func (s *Socket) read() (op byte, final bool, payload []byte, err error) {
	head := make([]byte, 2, 8)
	if _, err := io.ReadFull(s.reader, head); err != nil {
		return 0, false, nil, err
	}
	op, final = head[0]&15, head[0]&128 != 0
	length := uint64(head[1] & 127)
	if length > 125 {
		extended := make([]byte, 8)
		part := extended[6:]
		if length == 127 {
			part = extended
		}
		if _, err := io.ReadFull(s.reader, part); err != nil {
			return 0, false, nil, err
		}
		length = binary.BigEndian.Uint64(extended)
	}
	if length > longestMessage {
		return 0, false, nil, errors.New("a frame is too long")
	}
	payload = make([]byte, length)
	_, err = io.ReadFull(s.reader, payload)
	return op, final, payload, err
}

// write writes one frame. The caller holds writing.
func (s *Socket) write(op byte, payload []byte) error {
	frame := []byte{op | 128}
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, 128|byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 128|126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 128|127), uint64(n))
	}
	mask := make([]byte, 4)
	rand.Read(mask)
	frame = append(frame, mask...)
	for i, c := range payload {
		frame = append(frame, c^mask[i%4])
	}
	if _, err := s.conn.Write(frame); err != nil {
		return fmt.Errorf("wharf: writing to the socket: %w", err)
	}
	return nil
}
