package skill

import (
	"context"
	"errors"
	"fmt"

	"github.com/wharf-dev/wharf/runtime/turns"
)

// What it costs to hold a schema against a value is counted in units, each of which
// stands for some 5 ns, and charged before the work is done. Units are counted, and
// time is not measured, so that the same is said of the same value on any machine and
// in each replay.
const (
	// maxSteps bounds how many times a schema, or a part of it, is held against a value
	// or a part of that. It is twice what it was when nothing but steps was counted, so
	// that what was within it then, with all that it is charged for now, still is.
	maxSteps = 500_000
	maxWork  = maxSteps * perStep

	perStep    = 500 // holding one part of a schema against one value
	perName    = 16  // looking a name up
	perLeft    = 50  // noting that a member or an item is left, or is not
	perFrame   = 4   // looking at one of the parts that led to this one
	perByte    = 4   // copying or hashing a byte
	perPattern = 50  // beginning to match
	perMatch   = 3   // holding an instruction of a pattern against a byte

	// maxMatch bounds one match, which cannot be ended while it goes on: a program of
	// 1,000 instructions on a text of 64 KiB, up to 1 s.
	maxMatch = perMatch * 1001 * 64 << 10

	// maxFrames bounds how many parts of a schema may lead to each other, which is how
	// deep the check's stack grows.
	maxFrames = 10_000

	perLook = maxWork / 500 // between two looks at the context, which are turns
)

var errEffort = fmt.Errorf("to hold it against the schema takes more than %d steps", maxSteps)

// effort counts the work of one check.
type effort struct {
	ctx    context.Context
	turns  *turns.Turns
	work   int
	looked int  // the work at the last look at the context
	inTurn bool // it has a place
	err    error
}

// spend charges for work that is to be done. Once it has said false it always does,
// and whatever is found out after that is of no account.
func (e *effort) spend(units int) bool {
	if e.err != nil {
		return false
	}
	if units > maxWork-e.work {
		e.err = errEffort
		return false
	}
	e.work += units
	if e.work-e.looked < perLook {
		return true
	}
	e.looked = e.work
	e.err = e.goOn()
	return e.err == nil
}

// goOn has a check that has become long wait for its next turn.
func (e *effort) goOn() error {
	e.end()
	err := e.turns.Enter(e.ctx)
	e.inTurn = err == nil
	return err
}

// end gives back what a long check held.
func (e *effort) end() {
	if e.inTurn {
		e.inTurn = false
		e.turns.Leave()
	}
}

// Wrong reports whether an error says that a value is not what its schema says, and
// not that there was no time to find out.
func Wrong(err error) bool {
	return err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}
