package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What an answer may have many of. The SDKs' own types take some kilobytes for each
// member of a list, however small it is written, so that answers are read into types
// that hold what is needed and no more.
const (
	maxParts   = 1000 // tool calls or blocks of an answer
	maxChoices = 16   // one is asked for
)

// errTooMany says that an answer has more parts than any use of it.
var errTooMany = errors.New("its answer has more than " + strconv.Itoa(maxParts) + " tool calls or blocks, or " + strconv.Itoa(maxChoices) + " choices")

// asServersWrite are the options that answers are read with: what is wrong with their
// characters is mended later, and a name that comes twice is no reason to refuse them.
var asServersWrite = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// readWhole reads the answer to a request that is not streamed, and closes it.
func readWhole(response *http.Response, into any) error {
	defer func() { _ = response.Body.Close() }()
	err := json.UnmarshalRead(response.Body, into, asServersWrite)
	if err == nil || errors.Is(err, errTooMany) {
		return err
	}
	// What goes wrong with the rest, such as that it never ends, says more than that it
	// is not understood.
	_, rest := io.Copy(io.Discard, response.Body)
	return cmp.Or(rest, err)
}

// sse are server-sent events, as both SDKs read them.
type sse interface {
	Next() bool
	Err() error
	Close() error
}

// eachEvent calls take for every event until it says that it has all, fails, or ctx
// ends.
func eachEvent(ctx context.Context, events sse, take func() (done bool, err error)) error {
	defer func() { _ = events.Close() }()
	for ctx.Err() == nil && events.Next() {
		if done, err := take(); done || err != nil {
			return err
		}
	}
	return errors.Join(context.Cause(ctx), events.Err())
}

// few is a list of at most [maxParts] objects. What is no list is an empty one, and
// members that are no objects are left empty.
type few[T any] []T

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (f *few[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return readList((*[]T)(f), d, maxParts)
}

// choiceList is a list of at most [maxChoices] objects.
type choiceList []openAIChoice

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *choiceList) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return readList((*[]openAIChoice)(l), d, maxChoices)
}

func readList[T any](into *[]T, d *jsontext.Decoder, most int) error {
	if d.PeekKind() != '[' {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if len(*into) == most {
			return errTooMany
		}
		*into = append(*into, *new(T))
		if err := readMember(&(*into)[len(*into)-1], d); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func readMember[T any](into *T, d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, into)
}

// word is a string of an answer. Other scalars stand for their text; null, lists and
// objects for nothing.
type word string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (w *word) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case '{', '[', 'n':
		*w = ""
		return d.SkipValue()
	}
	v, err := d.ReadValue()
	if err == nil {
		*w = word(unquote(v))
	}
	return err
}

// written is the arguments of a tool call. They are to be a string of JSON; some
// servers put the object itself there.
type written string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (w *written) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '{' {
		v, err := d.ReadValue()
		*w = written(v)
		return err
	}
	return (*word)(w).UnmarshalJSONFrom(d)
}

// count is a whole number of an answer; what is none is 0.
type count int64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *count) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var w word
	if err := w.UnmarshalJSONFrom(d); err != nil {
		return err
	}
	*n = 0
	if i, err := strconv.ParseInt(string(w), 10, 64); err == nil {
		*n = count(i)
	} else if f, err := strconv.ParseFloat(string(w), 64); err == nil && f > -1e18 && f < 1e18 {
		*n = count(f)
	}
	return nil
}

// present says that a member is there, and not null.
type present bool

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (p *present) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*p = d.PeekKind() != 'n'
	return d.SkipValue()
}

// reported is an error that a server tells of in the data of an event.
func reported(data []byte) error {
	return fmt.Errorf("%w: %s", errReported, said(data[:min(len(data), maxErrorBody)]))
}

// unquote returns the text of a scalar. Bytes that are no UTF-8 stay as they are at
// both ends of a string: some servers send a character in two pieces.
func unquote(v jsontext.Value) string {
	if v.Kind() != '"' {
		return string(v)
	}
	inner := v[1 : len(v)-1]
	if !bytes.Contains(inner, []byte{'\\'}) {
		return string(inner)
	}
	begin, end := 0, len(inner)
	for begin < min(end, utf8.UTFMax-1) && !utf8.RuneStart(inner[begin]) {
		begin++
	}
	for n := 1; n < utf8.UTFMax && n <= end-begin; n++ {
		if last := inner[end-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				end -= n
			}
			break
		}
	}
	text := append([]byte{}, inner[:begin]...)
	middle := append(append([]byte{'"'}, inner[begin:end]...), '"')
	text, _ = jsontext.AppendUnquote(text, middle) // an error says that a character was replaced
	return string(append(text, inner[end:]...))
}

// maxTokenCount is more than any answer is counted to have: what is above, or below
// 0, is nonsense that would make a cost of nonsense.
const maxTokenCount = 1 << 40

// tokens is a count of tokens as it is told and priced, whatever a server says.
func tokens(n count) int64 { return min(max(int64(n), 0), maxTokenCount) }
