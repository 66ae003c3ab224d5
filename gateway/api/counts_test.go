package api

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// transcript is a Session's, as an engine has it that counts what is read of it.
type transcript struct {
	Core
	at       int // the position of the newest event
	messages []spoken
	read     int
}

type spoken struct {
	at   int
	role abi.Role // "" for a Message that cannot be read
}

func (s *transcript) say(role abi.Role) {
	s.at++
	s.messages = append(s.messages, spoken{s.at, role})
}

func (s *transcript) cut(keep int) {
	s.at++
	s.messages = s.messages[:keep]
}

func (s *transcript) session() *abi.Session {
	return &abi.Session{Envelope: abi.Envelope{ID: "sess_1"}, LastEventID: strconv.Itoa(s.at)}
}

func (s *transcript) said() (n int) {
	for _, m := range s.messages {
		if m.role != abi.RoleTool && m.role != "" {
			n++
		}
	}
	return n
}

func (s *transcript) Messages(_ context.Context, _ *desk.Caller, _ string, p desk.Page) (list desk.DocList, err error) {
	after, _ := strconv.Atoi(p.After)
	n := 0
	for _, m := range s.messages {
		if m.at <= after {
			continue
		}
		if n++; n > p.Limit {
			list.More = true
			return list, nil
		}
		s.read++
		list.Next = strconv.Itoa(m.at)
		if m.role == "" {
			list.Unreadable = append(list.Unreadable, fmt.Sprint("msg_", m.at))
			continue
		}
		list.Docs = append(list.Docs, desk.Doc{ID: fmt.Sprint("msg_", m.at), JSON: fmt.Appendf(nil, `{"role":%q}`, m.role)})
	}
	list.Next = ""
	return list, nil
}

// The number is that of the Messages that are no tool's, whatever was said and taken back since it
// was last asked for.
func TestSaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &transcript{}
		a := New(s, nil)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				s.cut(rapid.IntRange(0, len(s.messages)).Draw(t, "kept"))
			default:
				for range rapid.IntRange(1, 2*countedAtOnce).Draw(t, "more") {
					s.say(rapid.SampledFrom([]abi.Role{abi.RoleUser, abi.RoleTool, abi.RoleTool, abi.RoleAssistant, ""}).Draw(t, "role"))
				}
			}
			if rapid.Bool().Draw(t, "asked") {
				if n, more, err := a.Said(context.Background(), &Caller{}, s.session()); err != nil || len(s.messages) <= MaxCounted && (n != s.said() || more) {
					t.Fatalf("%d of %d, more: %t, %v", n, s.said(), more, err)
				}
			}
		}
	})
}

// What is read for a count is bounded, and nothing is read twice for nothing.
func TestSaidReadsLittle(t *testing.T) {
	s := &transcript{}
	a := New(s, nil)
	asks := func(want int, wantMore bool, most int) {
		t.Helper()
		s.read = 0
		if n, more, err := a.Said(t.Context(), &Caller{}, s.session()); err != nil || n != want || more != wantMore || s.read > most {
			t.Errorf("%d, more: %t, %v, and %d were read", n, more, err, s.read)
		}
	}
	for range 300 {
		s.say(abi.RoleUser)
		s.say(abi.RoleTool)
	}
	asks(300, false, 600)
	asks(300, false, 0)
	s.say(abi.RoleUser)
	asks(301, false, countedAtOnce+1)
	for range MaxCounted {
		s.say(abi.RoleUser)
	}
	asks(700, true, MaxCounted)
	s.say(abi.RoleUser)
	asks(700, true, countedAtOnce)
}
