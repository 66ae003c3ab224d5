package wharf

import "encoding/json"

// Prepare makes what encoding/json keeps of each type that it has seen: of those that the uses name, and of the
// values that they have beside. Initialization is done once for all Tasks of a plugin, and a Task would make it anew
// when it first encodes such a value. Call it there, for what nearly every Task uses:
//
//	var _ = wharf.Prepare(wharf.ForConfig, wharf.ForModels)
func Prepare(uses ...func() []any) (done bool) {
	for _, use := range uses {
		for _, v := range use() {
			if _, err := json.Marshal(v); err != nil {
				return false
			}
		}
	}
	return true
}

// ForConfig prepares [Config] and [State].
func ForConfig() []any { return []any{named{}, valueAnswer{}} }

// ForTranscript prepares [Transcript].
func ForTranscript() []any { return []any{readTranscript{}, transcript{}} }

// ForTools prepares [ListTools] and [CallTool].
func ForTools() []any { return []any{listTools{}, toolList{}, ToolRequest{}, ToolAnswer{}} }

// ForModels prepares [Complete].
func ForModels() []any { return []any{ModelRequest{}, ModelAnswer{}} }

// ForInbox prepares [InboxTake] and [InboxWait].
func ForInbox() []any { return []any{inboxRequest{}, Inbox{}} }

// ForEvents prepares [Tell] and [Progress].
func ForEvents() []any { return []any{agentEvent{}, Turn{}, progress{}} }
