package eventstest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wharf-dev/wharf/abi"
)

// Checker checks what events tell. It is not safe for concurrent use.
type Checker struct {
	compiler *jsonschema.Compiler
	kinds    map[abi.EventKind]*jsonschema.Schema
}

// NewChecker returns a checker with the schemas of the documentation.
func NewChecker() (*Checker, error) {
	_, here, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "..", "docs", "events.schema.json"))
	if err != nil {
		return nil, fmt.Errorf("reading the schemas of events: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading the schemas of events: %w", err)
	}
	c := &Checker{compiler: jsonschema.NewCompiler(), kinds: map[abi.EventKind]*jsonschema.Schema{}}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	return c, c.compiler.AddResource(schemas, doc)
}

const schemas = "urn:events"

// Check says what is wrong with an event: of which kind it is, which object it states, ""
// for none, and what it tells besides. A kind of a plugin's own may tell any object.
func (c *Checker) Check(kind abi.EventKind, states abi.Object, payload []byte) error {
	known := described(kind)
	if known == nil {
		if kind.Vendor() && !strings.HasPrefix(string(kind), "vendor.wharf.") {
			return nil
		}
		return fmt.Errorf("docs/events.md has no event %s", kind)
	}
	if states != "" && states != known.States {
		return fmt.Errorf("%s states %s, and docs/events.md says %q", kind, states, known.States)
	}
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	told, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("%s tells no JSON: %w", kind, err)
	}
	s := c.kinds[kind]
	if s == nil {
		if s, err = c.compiler.Compile(schemas + "#/$defs/" + string(kind)); err != nil {
			return err
		}
		c.kinds[kind] = s
	}
	if err := s.Validate(told); err != nil {
		return fmt.Errorf("%s tells what docs/events.schema.json does not say: %w\n%.500s", kind, err, payload)
	}
	return nil
}

// described is what is said of a kind of events, nil for nothing.
func described(kind abi.EventKind) *abi.EventPayload {
	for _, p := range abi.EventPayloads() {
		if p.Kind == kind {
			return &p
		}
	}
	return nil
}
