//go:build !wasip1

package wharftest

import (
	"fmt"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// composition returns the composition that is open; nil for none.
func (h *Host) composition() *Composed {
	if n := len(h.Composed); n > 0 && h.Composed[n-1].Ended == nil {
		return &h.Composed[n-1]
	}
	return nil
}

func (h *Host) beginComposition(request []byte) (uint32, []byte) {
	if h.composition() != nil {
		return refused(&wharf.Error{Status: wharf.StatusInvalid, Code: wharf.CodeCompositionOpen, Message: "another composition is open"})
	}
	return with(request, func(s wharf.Snippet) (uint32, []byte) {
		c := Composed{ID: fmt.Sprintf("task_test-%d", len(h.Composed)), Snippet: s}
		h.Composed = append(h.Composed, c)
		return hostcall.OK, mustMarshal(map[string]string{"composition_id": c.ID})
	})
}

func (h *Host) endComposition(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		wharf.Composition
		wharf.CompositionResult
	}) (uint32, []byte) {
		c := h.composition()
		if c == nil || c.ID != r.ID {
			return refused(unknownComposition())
		}
		c.Ended = &r.CompositionResult
		return hostcall.OK, nil
	})
}

func unknownComposition() *wharf.Error {
	return &wharf.Error{Status: wharf.StatusNotFound, Code: wharf.CodeUnknownComposition, Message: "that composition is not open"}
}

func (h *Host) callTool(request []byte) (uint32, []byte) {
	return with(request, func(r wharf.ToolRequest) (uint32, []byte) {
		c := h.composition()
		if r.CompositionID != "" && (c == nil || c.ID != r.CompositionID) {
			return refused(unknownComposition())
		}
		if c != nil {
			c.Children = append(c.Children, r)
		}
		return beyond(h.CallTool, request)
	})
}
