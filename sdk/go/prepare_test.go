package wharf

import "testing"

func TestPrepare(t *testing.T) {
	if !Prepare(ForConfig, ForTranscript, ForTools, ForModels, ForInbox, ForEvents) {
		t.Error("not all of what the uses name can be encoded")
	}
	if Prepare(func() []any { return []any{func() {}} }) {
		t.Error("a function was prepared")
	}
}
