package hosts

import (
	"context"
	"fmt"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// The most that one client lists: tools, and bytes of their descriptions.
const (
	maxTools     = 256
	maxToolBytes = 512 << 10
)

// listed is a tool as a client lists it, whatever it has called the members.
type listed struct {
	Name        string
	Description string         // "" for none
	Schema      jsontext.Value // null, or an object
	Deprecated  bool
}

// written is a tool as clients write it.
type written struct {
	Name        string         `json:"name"`
	Description *string        `json:"description"`
	Short       *string        `json:"short_description"`
	Schema      jsontext.Value `json:"schema"`
	Parameters  jsontext.Value `json:"parameters"`
	InputSchema jsontext.Value `json:"input_schema"`
	Deprecated  *bool          `json:"deprecated"`
}

// readTools reads what a client answers to host/tools/list. wrong says of each tool that is left out
// why it is.
func readTools(answer jsontext.Value) (tools []listed, wrong []error, err error) {
	entries, err := wrapped(answer, "tools")
	if err != nil {
		return nil, nil, err
	}
	size, seen := 0, map[string]bool{}
	for i, entry := range entries {
		t, err := readTool(entry)
		if err == nil && seen[t.Name] {
			err = fmt.Errorf("the client lists two tools of the name %q", t.Name)
		}
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		size += len(t.Name) + len(t.Description) + len(t.Schema)
		if len(tools) == maxTools || size > maxToolBytes {
			wrong = append(wrong, fmt.Errorf("the client lists more than %d tools, or %d bytes: %d are left out", maxTools, maxToolBytes, len(entries)-i))
			break
		}
		seen[t.Name] = true
		tools = append(tools, t)
	}
	return tools, wrong, nil
}

func readTool(entry jsontext.Value) (t listed, err error) {
	var w written
	if err := json.Unmarshal(entry, &w, json.RejectUnknownMembers(false)); err != nil {
		return t, fmt.Errorf("a tool cannot be read: %w", err)
	}
	if err := tool.CheckName(w.Name); err != nil {
		return t, err
	}
	t = listed{Name: w.Name, Schema: jsontext.Value("null")}
	for _, text := range []*string{w.Description, w.Short} {
		if text != nil && t.Description == "" {
			t.Description = *text
		}
	}
	for _, schema := range []jsontext.Value{w.Schema, w.Parameters, w.InputSchema} {
		if len(schema) > 0 && schema.Kind() != 'n' && t.Schema.Kind() == 'n' {
			t.Schema = schema.Clone()
		}
	}
	switch {
	case t.Schema.Kind() != 'n' && t.Schema.Kind() != '{':
		return t, fmt.Errorf("the schema of the tool %q is no object", w.Name)
	case abi.TooDeep(t.Schema, abi.MaxToldDepth) >= 0:
		return t, fmt.Errorf("the schema of the tool %q nests too deep", w.Name)
	}
	t.Deprecated = w.Deprecated != nil && *w.Deprecated
	return t, nil
}

// wrapped returns the entries of a list that clients send bare, as a member of one of these names, or
// as that of a member result.
func wrapped(answer jsontext.Value, names ...string) ([]jsontext.Value, error) {
	for range 2 {
		switch answer.Kind() {
		case '[':
			var list []jsontext.Value
			err := json.Unmarshal(answer, &list)
			return list, err
		case '{':
		default:
			return nil, fmt.Errorf("it is neither a list nor an object")
		}
		var members map[string]jsontext.Value
		if err := json.Unmarshal(answer, &members); err != nil {
			return nil, err
		}
		for _, name := range names {
			if list, there := members[name]; there {
				if list.Kind() != '[' {
					return nil, fmt.Errorf("its member %s is no list", name)
				}
				return wrapped(list)
			}
		}
		answer = members["result"]
		if answer == nil {
			break
		}
	}
	return nil, fmt.Errorf("it has no member %s", plainly.Or(names))
}

// tool returns the tool as plugins are told it. It is a write that may be anything: a client's word
// does not count.
func (t *listed) tool(h tool.Hints) abi.Tool {
	told := abi.Tool{Name: t.Name, Description: t.Description, Destructive: true, OpenWorld: true, Deprecated: t.Deprecated}
	if t.Schema.Kind() == '{' {
		told.InputSchema = t.Schema
	}
	h.Believe(&told)
	return told
}

// listTools asks the client for its tools, unless they are known.
func (h *Host) listTools(ctx context.Context) ([]listed, error) {
	if !h.client.Declared.declares(MethodTools) {
		return nil, nil
	}
	return h.tools.get(ctx, h.life, func(ctx context.Context) ([]listed, error) {
		answer, err := h.askHarn(ctx, MethodTools, struct{}{})
		if err != nil {
			return nil, err
		}
		tools, wrong, err := readTools(answer)
		if err != nil {
			return nil, &unreadable{MethodTools, err}
		}
		for _, err := range wrong {
			h.all.cfg.Log.Warn("a tool that a client lists is not offered", "session", h.client.Session, "error", err)
		}
		return tools, nil
	})
}
