package stack

import (
	"path"
	"slices"
	"strings"
)

// Bounds of a stack.
const (
	MaxFrames = 32  // frames
	maxShown  = 300 // bytes of a name or a path
)

// Call is a function that is under way, as the engine tells it.
type Call struct {
	Name string // of the module's name section, or $ and its number
	// Places are where it is, the innermost first: see [Places]. Empty where that is not
	// known.
	Places []Place
}

// Frame is a function on a stack, as people read it.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file,omitzero"`
	Line     int    `json:"line,omitzero"`
	Own      bool   `json:"own"` // the author's, as far as can be told: no part of a language's runtime or a library
}

// Frames makes the frames of a stack, the innermost first, and no more than MaxFrames. What
// a compiler has put into others comes as functions of its own.
func Frames(calls []Call) (frames []Frame) {
	for _, c := range calls {
		for i, p := range places(&c) {
			if len(frames) == MaxFrames {
				return frames
			}
			symbol := c.Name
			if i < len(c.Places)-1 && p.Function != "" || strings.HasPrefix(symbol, "$") && p.Function != "" {
				symbol = p.Function
			}
			frames = append(frames, frame(symbol, p))
		}
	}
	return frames
}

// places are those of a call, or that it has none.
func places(c *Call) []Place {
	if len(c.Places) == 0 {
		return []Place{{}}
	}
	return c.Places
}

func frame(symbol string, p Place) Frame {
	name := Name(symbol)
	return Frame{Function: cut(name), File: cut(short(p.File)), Line: p.Line, Own: !isRuntime(name, p.File)}
}

// cut bounds a text, at the end of a character, and makes valid UTF-8 of it.
func cut(text string) string {
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// short leaves out of a path of a library where it lay on the author's machine.
func short(file string) string {
	for _, mark := range []string{"/library/", "/registry/src/", "/pkg/mod/"} {
		if _, after, ok := strings.Cut(file, mark); ok && path.IsAbs(file) {
			return strings.TrimPrefix(mark, "/") + after
		}
	}
	return file
}

// OwnFirst returns the frames of the author's in their order, and then how many others there
// are before the first of them: those are of the runtime that ended the plugin.
func OwnFirst(frames []Frame) (own []Frame, before int) {
	before = slices.IndexFunc(frames, func(f Frame) bool { return f.Own })
	if before < 0 {
		return nil, len(frames)
	}
	for _, f := range frames {
		if f.Own {
			own = append(own, f)
		}
	}
	return own, before
}
