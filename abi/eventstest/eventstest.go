package eventstest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wharf-dev/wharf/abi"
)

// Checker checks what events tell. It is safe for concurrent use.
type Checker struct {
	described map[abi.EventKind]abi.EventPayload

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	kinds    map[abi.EventKind]*jsonschema.Schema // those that were compiled
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
	c := &Checker{described: map[abi.EventKind]abi.EventPayload{}, compiler: jsonschema.NewCompiler(), kinds: map[abi.EventKind]*jsonschema.Schema{}}
	for _, p := range abi.EventPayloads() {
		c.described[p.Kind] = p
	}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	return c, c.compiler.AddResource(schemas, doc)
}

const schemas = "urn:events"

// Check says what is wrong with an event: of which kind it is, which object it states, ""
// for none, and what it tells besides. A kind of a plugin's own may tell any object.
func (c *Checker) Check(kind abi.EventKind, states abi.Object, payload []byte) error {
	known, ok := c.described[kind]
	if !ok {
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
	s, err := c.schemaOf(kind)
	if err != nil {
		return err
	}
	if err := s.Validate(told); err != nil {
		return fmt.Errorf("%s tells what docs/events.schema.json does not say: %w\n%.500s", kind, err, payload)
	}
	return nil
}

// schemaOf returns the schema of what a kind of events tells.
func (c *Checker) schemaOf(kind abi.EventKind) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.kinds[kind]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(schemas + "#/$defs/" + string(kind))
	c.kinds[kind] = s
	return s, err
}
