package hosts

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// extension begins the other name of a method of Harn's, for clients whose library serves no name
// without it.
const extension = "_harn/"

// declares reports whether a client names a method, by either of its names.
func (d *Declared) declares(method string) bool {
	return slices.Contains(d.Methods, method) || slices.Contains(d.Methods, extension+method)
}

// spelled returns the name by which a client is asked for one of Harn's methods: that which it has
// declared it by, and of one that follows from another the kind of name that it has for all.
func (d *Declared) spelled(method string) string {
	other := !slices.Contains(d.Methods, method) && len(d.Methods) > 0 &&
		(slices.Contains(d.Methods, extension+method) || !slices.ContainsFunc(d.Methods, func(m string) bool { return !strings.HasPrefix(m, extension) }))
	if other {
		return extension + method
	}
	return method
}

// askHarn asks the client for one of Harn's methods.
func (h *Host) askHarn(ctx context.Context, method string, params any) (jsontext.Value, error) {
	return h.ask(ctx, h.client.Declared.spelled(method), params)
}

// maxOperations bounds what a client says that it can do.
const maxOperations = 256

// operations returns which operations of shells the client serves, and whether that is all of them.
// What it has not declared it may say when it is asked for host/capabilities; while it does not answer
// that, it serves none of those.
func (h *Host) operations(ctx context.Context) (names []string, all bool) {
	d := &h.client.Declared
	if d.declares(MethodProcess) {
		return nil, true
	}
	for _, m := range d.Methods {
		if name, ok := strings.CutPrefix(strings.TrimPrefix(m, extension), MethodProcess+"."); ok {
			names = append(names, name)
		}
	}
	if !d.declares(MethodCapabilities) {
		return names, false
	}
	said, err := h.able.get(ctx, h.life, h.readCapabilities)
	if err != nil {
		h.all.cfg.Log.Debug("a client has not said what it can do", slog.Any("error", err))
	}
	return append(names, said...), false
}

func (h *Host) readCapabilities(ctx context.Context) ([]string, error) {
	answer, err := h.askHarn(ctx, MethodCapabilities, struct{}{})
	if err != nil {
		return nil, err
	}
	names, err := readOperations(answer, MethodProcess)
	if err != nil {
		return nil, &unreadable{MethodCapabilities, err}
	}
	return names, nil
}

// readOperations reads the operations of one capability from what a client answers to
// host/capabilities: an object that has a list for each, bare or as the member capabilities, or either
// within result. In place of the list there may be an object with the member operations, or ops, which
// is a list, or an object that has a member for each.
func readOperations(answer jsontext.Value, capability string) ([]string, error) {
	for _, within := range []string{"result", "capabilities"} {
		var of map[string]jsontext.Value
		if err := json.Unmarshal(answer, &of); err != nil {
			return nil, err
		}
		if inner, ok := of[within]; ok && inner.Kind() == '{' {
			answer = inner
		}
	}
	var all map[string]jsontext.Value
	if err := json.Unmarshal(answer, &all); err != nil {
		return nil, err
	}
	of := all[capability]
	if of.Kind() == '{' {
		var members struct {
			Operations jsontext.Value `json:"operations"`
			Ops        jsontext.Value `json:"ops"`
		}
		if err := json.Unmarshal(of, &members); err != nil {
			return nil, err
		}
		if of = members.Operations; of == nil {
			of = members.Ops
		}
	}
	names, err := namesIn(of)
	if err != nil {
		return nil, err
	}
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], capability+".")
	}
	return names[:min(len(names), maxOperations)], nil
}

// namesIn reads names: a list of them, or the members of an object.
func namesIn(v jsontext.Value) (names []string, err error) {
	switch v.Kind() {
	case '[':
		err = json.Unmarshal(v, &names)
	case '{':
		var members map[string]jsontext.Value
		err = json.Unmarshal(v, &members)
		for name := range members {
			names = append(names, name)
		}
	}
	return names, err
}
