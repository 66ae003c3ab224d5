package deltas

import (
	"crypto/sha256"
	"hash"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

const (
	// maxWaiting is how much text waits for its time; beyond it a text is told no further when its
	// time has not come.
	maxWaiting = 64 << 10
	// maxPieces is how many pieces of one text are told.
	maxPieces = 10_000
)

// Text is a text that is being written.
type Text struct {
	MessageID string // that the Message with this text will have
	Index     int    // of the call that it answers; of the call that follows, where a plugin writes by itself
}

// TextOf names the text that is written at a place in the record of a Task, at the time that the
// record has reached.
func TextOf(task string, index int, at time.Time) Text {
	return Text{abi.DerivedID(abi.ObjectMessage, at, "text "+task+" "+strconv.Itoa(index)), index}
}

// Piece is what one event tells of a text.
type Piece struct {
	Text
	Offset int // bytes of the text before it
	Says   string
}

// Teller tells the texts of a Task, one after the other. The zero value is ready. It is not safe for
// concurrent use.
type Teller struct {
	pace    pace
	text    Text
	open    bool // text goes on
	offset  int  // bytes of it that were told
	pieces  int
	waiting []byte
	cut     bool // it is told no further

	own      hash.Hash // of the text that the plugin writes by itself; nil for none
	ownID    string
	ownLen   int
	answer   []byte // of the model that was asked last; nil for none
	streamed func() bool
	id       string // of the Message with its text
}

// Begin begins a text that answers a call.
func (t *Teller) Begin(text Text) {
	t.begin(text)
	t.own = nil
}

func (t *Teller) begin(text Text) {
	t.text, t.open, t.offset, t.pieces, t.waiting, t.cut = text, true, 0, 0, t.waiting[:0], false
}

// Writes takes text that the plugin writes by itself: it goes on with what it has written since
// its last Message, or begins a text. told says that an earlier life has told it.
func (t *Teller) Writes(begin func() Text, now time.Time, says string, told bool) (Piece, bool) {
	if t.own == nil {
		text := begin()
		t.begin(text)
		t.own, t.ownID, t.ownLen = sha256.New(), text.MessageID, 0
	}
	_, _ = t.own.Write([]byte(says)) // it never fails
	t.ownLen += len(says)
	if told {
		t.offset += len(says)
		return Piece{}, false
	}
	return t.Add(now, says)
}

// Add takes the next part of the text, and returns what is to be told now.
func (t *Teller) Add(now time.Time, says string) (Piece, bool) {
	if !t.open || t.cut || says == "" {
		return Piece{}, false
	}
	t.waiting = append(t.waiting, says...)
	piece, ok := t.Poll(now)
	if !ok && len(t.waiting) > maxWaiting {
		if piece, ok = t.tell(now, true); !ok {
			t.stop()
		}
	}
	return piece, ok
}

// Due returns when Poll has something to tell; ok is false when nothing waits.
func (t *Teller) Due() (at time.Time, ok bool) { return t.pace.from(false), len(t.waiting) > 0 }

// Poll returns what is to be told now.
func (t *Teller) Poll(now time.Time) (Piece, bool) { return t.tell(now, false) }

// Flush returns what waits, if its time has come as for the end of a text. The text goes on.
func (t *Teller) Flush(now time.Time) (Piece, bool) { return t.tell(now, true) }

// End ends the text, and returns what is to be told of it still.
func (t *Teller) End(now time.Time) (Piece, bool) {
	piece, ok := t.tell(now, true)
	t.stop()
	t.open = false
	return piece, ok
}

func (t *Teller) stop() { t.cut, t.waiting = true, t.waiting[:0] }

func (t *Teller) tell(now time.Time, end bool) (Piece, bool) {
	if len(t.waiting) == 0 || t.pieces >= maxPieces || !t.pace.may(now, end) {
		return Piece{}, false
	}
	piece := Piece{t.text, t.offset, string(t.waiting)}
	t.pace.took(now)
	t.pieces++
	t.offset += len(t.waiting)
	t.waiting = t.waiting[:0]
	return piece, true
}

// Answered notes the answer of a model, which the plugin may make a Message of. streamed reports
// whether its text was told, and is asked when a Message might have it; id is what it was told under.
func (t *Teller) Answered(streamed func() bool, answer []byte, id string) {
	t.id, t.streamed, t.answer = id, streamed, answer
}

// MessageID returns the id of a Message that the plugin appends: that which its text was told under.
// It is "" for one whose text nobody was told.
func (t *Teller) MessageID(m *abi.MessageInput) string {
	text, ok := textOf(m)
	if !ok {
		return ""
	}
	if t.own != nil && t.ownLen == len(text) && [sha256.Size]byte(t.own.Sum(nil)) == sha256.Sum256([]byte(text)) {
		return t.ownID
	}
	if t.answer == nil || !t.streamed() {
		return ""
	}
	var said struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(t.answer, &said); err != nil || said.Text != text {
		return ""
	}
	return t.id
}

// textOf returns the text of a Message of an assistant, whatever else that has.
func textOf(m *abi.MessageInput) (text string, ok bool) {
	if m.Role != abi.RoleAssistant && m.Role != abi.RoleAgent {
		return "", false
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == abi.PartText && p.Text != nil {
			text += *p.Text
		}
	}
	return text, text != ""
}

// Appended notes that a Message was appended: no other has its id, and what the plugin writes
// from then on is another text.
func (t *Teller) Appended(id string) {
	t.own = nil
	if t.id == id {
		t.id, t.streamed, t.answer = "", nil, nil
	}
}

// Streamed reports whether the request of a model's call has its text told.
func Streamed(request []byte) bool {
	var asked struct {
		Stream bool `json:"stream"`
	}
	return json.Unmarshal(request, &asked) == nil && asked.Stream
}
