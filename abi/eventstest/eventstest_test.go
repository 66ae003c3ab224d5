package eventstest_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/eventstest"
)

func TestCheck(t *testing.T) {
	c, err := eventstest.NewChecker()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kind    abi.EventKind
		states  abi.Object
		payload string
		wrong   string // "" for nothing
	}{
		{abi.EventTaskSubmitted, abi.ObjectTask, `{}`, ""},
		{abi.EventTaskSubmitted, abi.ObjectTask, ``, ""},
		{abi.EventTaskSubmitted, abi.ObjectTask, `{"task_id":"task_1"}`, "does not say"},
		{abi.EventTaskSubmitted, abi.ObjectMessage, `{}`, "states message"},
		{abi.EventUserCancelRequested, "", `{"reason":"enough"}`, ""},
		{abi.EventUserCancelRequested, "", `{"reason":7}`, "does not say"},
		{abi.EventSessionTruncated, abi.ObjectSession, `{}`, "does not say"},
		{abi.EventAgentMessage, abi.ObjectMessage, `{"merged_from":"sess_1","branch_id":"branch_1"}`, ""},
		{abi.EventAgentMessage, abi.ObjectMessage, `{"call":"message.append","index":0,"at_us":1}`, ""},
		{abi.EventAgentMessage, abi.ObjectMessage, `{"call":"message.append"}`, "does not say"},
		{"vendor.wharf.unheard_of", "", `{}`, "has no event"},
		{"task.unheard_of", "", `{}`, "has no event"},
		{"com.example.own", "", `{"any":["thing"]}`, ""},
		{abi.EventLog, "", `{"level":`, "no JSON"},
	} {
		err := c.Check(test.kind, test.states, []byte(test.payload))
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s %s %s: %v", test.kind, test.states, test.payload, err)
		}
	}
}
