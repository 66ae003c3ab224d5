package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// The bounds on one search.
const (
	maxSearchTime  = 10 * time.Second
	maxSearched    = 32 << 20 // bytes of content
	maxLooked      = 20_000   // files
	maxLine        = 16 << 10 // bytes of a line: a longer one is searched in pieces
	maxLineTold    = 1000     // bytes of a line
	maxPattern     = 1 << 10  // bytes of a pattern or glob
	maxProgram     = 1000     // instructions of a pattern
	binaryLookedAt = 8 << 10  // bytes that say whether a file is text
)

// search is one that is under way.
type search struct {
	req    *abi.CallFileSearchRequest
	line   func([]byte) bool // nil when only names are looked for
	glob   glob
	from   int // the line after which to go on, in the file at
	at     string
	answer *abi.CallFileSearchAnswer
	bytes  int64
	files  int
	late   func() bool // it has taken as long as a search may
}

// searchFor answers abi.CallFileSearch.
func (k *Keeper) searchFor(ctx context.Context, at *place, req *abi.CallFileSearchRequest) (any, error) {
	until := k.parts.Now().Add(maxSearchTime)
	s := &search{req: req, answer: &abi.CallFileSearchAnswer{Matches: []abi.FileMatch{}},
		late: func() bool { return k.parts.Now().After(until) }}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if at == nil && req.Path == "" {
		return s.answer, nil
	}
	var last string
	err := k.walk(ctx, at, walking{below: req.Path, after: s.at, again: s.from != wholeFile}, func(p string, _ fs.DirEntry) error {
		if last != "" && (s.files >= maxLooked || s.bytes >= maxSearched || s.late()) {
			s.answer.Next = cursor(last, wholeFile)
			return fs.SkipAll
		}
		last = p
		if !s.glob.matches(strings.TrimPrefix(strings.TrimPrefix(p, req.Path), "/")) {
			return nil
		}
		s.files++
		return k.searchFile(ctx, at, s, p)
	})
	return s.answer, err
}

// wholeFile is the line of a cursor that lies behind a file.
const wholeFile = -1

// cursor says where a search goes on: after a line of a file.
func cursor(p string, line int) string { return strconv.Itoa(line) + ":" + p }

func (s *search) prepare() (err error) {
	r := s.req
	if max(len(r.Pattern), len(r.Glob), len(r.Text)) > maxPattern {
		return abi.InvalidParam("pattern", "text, pattern and glob have at most %d bytes", maxPattern)
	}
	if s.glob, err = newGlob(r.Glob); err != nil {
		return abi.InvalidParam("glob", "%v", err)
	}
	if r.After != "" {
		number, at, _ := strings.Cut(r.After, ":")
		if s.from, err = strconv.Atoi(number); err != nil || s.from < wholeFile || checkPath(at) != nil {
			return abi.InvalidParam("after", "after is the next of an answer")
		}
		s.at = at
	}
	s.line, err = matcher(r)
	return err
}

// matcher returns what tells whether a line is wanted; nil when only names are.
func matcher(r *abi.CallFileSearchRequest) (func([]byte) bool, error) {
	pattern := r.Pattern
	switch {
	case r.Text != "" && r.Pattern != "":
		return nil, abi.InvalidParam("pattern", "what is searched for is text or pattern, not both")
	case r.Text != "" && !r.IgnoreCase:
		text := []byte(r.Text)
		return func(line []byte) bool { return bytes.Contains(line, text) }, nil
	case r.Text != "":
		pattern = regexp.QuoteMeta(r.Text)
	case pattern == "":
		return nil, nil
	}
	if r.IgnoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	return compile(pattern)
}

// compile reads a regular expression, unless it would take too long to match.
func compile(pattern string) (func([]byte) bool, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, abi.InvalidParam("pattern", "the pattern cannot be read: %v", err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		return nil, abi.InvalidParam("pattern", "the pattern is too large: it has more than %d instructions", maxProgram)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, abi.InvalidParam("pattern", "the pattern cannot be read: %v", err)
	}
	return re.Match, nil
}

// searchFile looks through one file. Its error is fs.SkipAll when there are enough matches.
func (k *Keeper) searchFile(ctx context.Context, at *place, s *search, p string) error {
	from := 0
	if p == s.at {
		from = s.from
	}
	if s.line == nil {
		return s.match(abi.FileMatch{Path: p})
	}
	f, info, err := at.file(p)
	if err != nil || info.Size() > MaxBytes {
		return nil // it was removed meanwhile
	}
	defer f.Close()
	s.bytes += info.Size()
	// A long search lets others go first after each file.
	return k.parts.Turns.Do(ctx, int(info.Size()), func() error { return s.lines(ctx, p, f, from) })
}

// match takes what was found, unless there is enough: then the next search begins with it.
func (s *search) match(m abi.FileMatch) error {
	if len(s.answer.Matches) == s.req.Limit {
		s.answer.Next = cursor(m.Path, max(0, m.Line-1))
		return fs.SkipAll
	}
	s.answer.Matches = append(s.answer.Matches, m)
	return nil
}

// lines looks through the lines of a text after the first so many.
func (s *search) lines(ctx context.Context, p string, f io.Reader, from int) error {
	in := bufio.NewReaderSize(f, maxLine)
	if head, _ := in.Peek(binaryLookedAt); bytes.IndexByte(head, 0) >= 0 {
		return nil
	}
	number, told := 1, 0
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		piece, err := in.ReadSlice('\n')
		goesOn := errors.Is(err, bufio.ErrBufferFull)
		line := bytes.TrimSuffix(bytes.TrimSuffix(piece, []byte("\n")), []byte("\r"))
		if len(piece) > 0 && number > from && told < number && s.line(line) {
			told = number
			if err := s.match(abi.FileMatch{Path: p, Line: number, Text: shown(line)}); err != nil {
				return err
			}
		}
		switch {
		case goesOn:
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case number > from && s.late():
			s.answer.Next = cursor(p, number)
			return fs.SkipAll
		default:
			number++
		}
	}
}

// shown returns a line as it is told.
func shown(line []byte) string {
	line = line[:min(len(line), maxLineTold)]
	return strings.ToValidUTF8(string(line), "\uFFFD")
}
