package mcp

import (
	"context"
	"errors"
	"testing"
)

// A session's end calls its calls off in whichever order the two come, and nobody else's.
func TestEndsCallCallsOff(t *testing.T) {
	mine, others := ownSession{"a", "s"}, ownSession{"b", "s"}
	enter := func(c *calls, session ownSession) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(t.Context())
		return ctx, c.enter(session, &cancel)
	}
	isOff := func(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errSessionEnded) }
	var c calls
	before, leaveBefore := enter(&c, mine)
	other, leaveOther := enter(&c, others)
	first, second := c.end(mine), c.end(mine)
	first()
	during, leaveDuring := enter(&c, mine)
	if !isOff(before) || !isOff(during) || isOff(other) {
		t.Errorf("called off: before %v, during %v, of somebody else %v", isOff(before), isOff(during), isOff(other))
	}
	second()
	after, leaveAfter := enter(&c, mine)
	if isOff(after) {
		t.Error("a call of a session that was opened again was called off")
	}
	for _, leave := range []func(){leaveBefore, leaveOther, leaveDuring, leaveAfter} {
		leave()
	}
	if len(c.of) != 0 {
		t.Errorf("%d sessions are kept", len(c.of))
	}
}
