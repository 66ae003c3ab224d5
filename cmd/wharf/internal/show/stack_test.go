package show

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

const panicked = `{"text":"thread panicked\nno such label","stack":[
	{"function":"rust_begin_unwind","own":false},{"function":"core::panicking::panic_fmt","file":"library/core/src/panicking.rs","line":72,"own":false},
	{"function":"triage::classify","file":"src/lib.rs","line":42,"own":true},{"function":"core::ops::call_once","own":false},
	{"function":"triage::run","file":"src/lib.rs","line":12,"own":true},{"function":"\u001b]0;run","own":true}]}`

func TestStacks(t *testing.T) {
	for details, want := range map[string]string{
		panicked: `
on stderr
  thread panicked
  no such label

stack
  triage::classify  src/lib.rs:42
  ... 1 function of libraries
  triage::run       src/lib.rs:12
  ]0;run
  it ended in rust_begin_unwind, 2 functions further in
`,
		// A record of before.
		`{"stack":["_ZN4core9panicking5panic17h0123456789abcdefE","_RNvCs1234_6tester4deep","run"]}`: `
stack
  tester::deep
  run
  it ended in core::panicking::panic, 1 function further in
`,
		`{"stack":[{"function":"runtime.gopanic","own":false}]}`: "\nstack\n  runtime.gopanic\n",
		`{"stack":[1,null,{},{"function":7},["a"]]}`:             "", `{"stack":"deep"}`: "", `{"text":{}}`: "", `[]`: "", ``: "", `{`: "",
		`{"text":"` + strings.Repeat(`line\n`, 20) + `"}`: "\non stderr\n  ...\n" + strings.Repeat("  line\n", maxWordLines),
	} {
		s, out := screen("never", nil)
		s.Stack(&abi.Failure{Code: abi.FailurePluginTrap, Details: jsontext.Value(details)})
		if out.String() != want {
			t.Errorf("of %s it shows\n%s", details, out)
		}
	}
}

// Much of one function is not shown, and what is left out is counted.
func TestALongStackIsCut(t *testing.T) {
	s, out := screen("never", nil)
	s.Stack(&abi.Failure{Details: jsontext.Value(`{"stack":[` + strings.Repeat(`{"function":"deep","own":true},`, 29) + `{"function":"run","own":true}]}`)})
	if want := "\nstack\n" + strings.Repeat("  deep\n", maxPlaces) + "  ... and 18 more, which --json has\n"; out.String() != want {
		t.Errorf("it shows\n%s", out)
	}
}

// Among events a trap takes few lines: the author's functions.
func TestAnEventTellsWhereItFailed(t *testing.T) {
	e := eventOf(0, abi.EventTaskFailed, fmt.Sprintf(`{"task":{"failure":{"code":"plugin_trap","message":"it trapped","details":%s}}}`, panicked))
	s, out := screen("never", nil)
	s.FailedIn(e)
	s.FailedIn(eventOf(0, abi.EventTaskFailed, `{"task":{"failure":{"code":"x"}}}`))
	s.FailedIn(eventOf(0, abi.EventTaskFailed, `{`))
	s.FailedIn(eventOf(0, abi.EventTaskCompleted, string(e.Payload)))
	if want := "    thread panicked no such label\n    at triage::classify  src/lib.rs:42\n    at triage::run  src/lib.rs:12\n    at ]0;run\n"; out.String() != want {
		t.Errorf("it shows\n%s", out)
	}
}
