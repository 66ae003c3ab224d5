package main

import (
	"slices"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// turnBegins prepares what a turn is asked with. That the first begins is told by the Task's own events,
// and so is that the last ends.
func (a *agent) turnBegins() {
	if a.turns > 1 {
		_ = wharf.Tell(wharf.TurnStarted, wharf.Turn{Iteration: a.turns})
	}
	a.search.thisTurn = 0
	a.active.turn(a.turns, a.lastSaid(), &a.tools)
}

// turnEnded tells that a turn is over after which another comes.
func (a *agent) turnEnded(answer *wharf.ModelAnswer) {
	_ = wharf.Tell(wharf.TurnEnded, wharf.Turn{Iteration: a.turns, StopReason: string(answer.StopReason), ToolCalls: len(answer.ToolCalls)})
}

// lastSaid is what the user has said last.
func (a *agent) lastSaid() string {
	for i := len(a.messages) - 1; i >= a.window.begin; i-- {
		if a.messages[i].Role == "user" {
			return a.messages[i].Text
		}
	}
	if n := len(a.window.wishes); n > 0 {
		return a.window.wishes[n-1]
	}
	return ""
}

// offers returns the tools that the model is offered now.
func (a *agent) offers() []wharf.ModelTool {
	offered := a.search.offers(&a.tools)
	if a.active.offered == nil {
		return offered
	}
	return slices.DeleteFunc(slices.Clone(offered), func(t wharf.ModelTool) bool {
		return t.Name != searchTool && !a.active.offers(t.Name)
	})
}
