package redact

import (
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// Composition withholds from a step of a composition what was passed and what came of it, unless its Persona shows that to
// everybody. Of a child that is nobody's business, [Document] leaves the kind.
func Composition(payload []byte, internal bool) ([]byte, error) {
	if internal || len(payload) == 0 {
		return payload, nil
	}
	var ev abi.CompositionEvent
	if err := json.Unmarshal(payload, &ev); err != nil {
		return nil, fmt.Errorf("reading a step of a composition: %w", err)
	}
	if ev.Visibility == abi.ToolsPublic {
		return payload, nil
	}
	ev.Withhold()
	return json.Marshal(&ev)
}
