package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

const (
	recentGroups = 2   // whose answers of tools stay as they are
	largeAnswer  = 800 // bytes: answers that have more are made shorter
	shortAnswer  = 400
)

// project makes answers of tools shorter that the model has seen before. What is short then stays so:
// the conversation begins with the same bytes from then on, and a provider that has kept them need not read them again.
func (a *agent) project(r *wharf.ModelRequest, reason string) {
	end := len(r.Messages)
	for range recentGroups {
		end = groupBefore(r.Messages, end)
	}
	told := wharf.Projection{Policy: "older_tool_results", Reason: reason}
	before := requestBytes(r)
	for i := range end {
		m := &r.Messages[i]
		if m.Role != "tool" || len(m.Text) <= largeAnswer {
			continue
		}
		if i < end/2 { // its message stays, for a provider takes no call without its result
			m.Text = fmt.Sprintf("[%d bytes that the tool has answered are left out]", len(m.Text))
			told.DroppedCount++
			told.ProviderSafetyBlocked++
		} else {
			m.Text = shortened(m.Text, shortAnswer)
			told.RedactedCount++
		}
		told.RedactionPointers = append(told.RedactionPointers, "tool_call:"+m.ToolCallID)
	}
	a.projected(r, &told, end, before)
}

// squeeze makes all answers of tools shorter from a message on, until those messages have at most so many
// bytes.
func (a *agent) squeeze(r *wharf.ModelRequest, from int, most int64, reason string) {
	told := wharf.Projection{Policy: "all_tool_results", Reason: reason}
	before, cut := requestBytes(r), map[string]bool{}
	for length := maxToolText / 2; length >= shortAnswer/2 && messagesBytes(r.Messages[from:]) > most; length /= 2 {
		for i := from; i < len(r.Messages); i++ {
			m := &r.Messages[i]
			if m.Role != "tool" || len(m.Text) <= length+perNote {
				continue
			}
			m.Text = shortened(m.Text, length)
			if !cut[m.ToolCallID] {
				cut[m.ToolCallID] = true
				told.RedactionPointers = append(told.RedactionPointers, "tool_call:"+m.ToolCallID)
			}
		}
	}
	told.RedactedCount = len(told.RedactionPointers)
	a.projected(r, &told, len(r.Messages), before)
}

// maxPointers bounds how many places one event names.
const maxPointers = 100

// projected tells what was left out, if anything was. prefix is how many messages stay as they are now.
func (a *agent) projected(r *wharf.ModelRequest, told *wharf.Projection, prefix int, before int64) {
	changed := told.DroppedCount + told.RedactedCount
	if changed == 0 {
		return
	}
	told.KeptCount = len(r.Messages) - changed
	told.ReclaimedTokens = max(a.window.estimate(before-requestBytes(r)), 0)
	told.PrefixHash = hashOf(r.Messages[:prefix])
	told.RootsConsulted = []string{"transcript"}
	told.RedactionPointers = told.RedactionPointers[:min(len(told.RedactionPointers), maxPointers)]
	_ = wharf.Tell(wharf.TranscriptProjected, told)
}

// hashOf tells one beginning of a conversation from another. It protects nothing, so a hash will do that
// makes the plugin no larger.
func hashOf(messages []wharf.ModelMessage) string {
	text, err := json.Marshal(messages)
	if err != nil {
		return ""
	}
	h := fnv.New128a()
	_, _ = h.Write(text)
	return "fnv128a:" + hex.EncodeToString(h.Sum(nil))
}

// perNote is how long the note is at most that says that a text was made shorter.
const perNote = 80

// shortened returns the beginning of a text, and says how much is left out.
func shortened(text string, most int) string {
	if len(text) <= most+perNote {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("\n[%d more bytes are left out here]", len(text)-most)
}
