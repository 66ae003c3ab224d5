package enginetest

import (
	"context"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// Guest is a plugin written in Go: it speaks to the host as a module would.
type Guest = func(ctx context.Context, h sandbox.Host) error

// Guests are the plugins of a node, by name. They implement [engine.Modules].
type Guests map[string]Guest

// DigestOf stands for the digest of a guest that is no module.
func DigestOf(name string) string { return journal.HashOf([]byte(name)) }

// Resolve implements [engine.Modules].
func (g Guests) Resolve(_ context.Context, name string) (string, error) {
	if g[name] == nil {
		return "", &abi.Failure{Code: abi.FailurePluginMissing, Message: "no plugin " + name}
	}
	return DigestOf(name), nil
}

// ModuleAt implements [engine.Modules].
func (g Guests) ModuleAt(_ context.Context, digest string) (engine.Module, error) {
	name, err := g.named(digest)
	if err != nil {
		return nil, err
	}
	return module(g[name]), nil
}

// Wasm returns what has the guest's digest.
func (g Guests) Wasm(_ context.Context, digest string) ([]byte, error) {
	name, err := g.named(digest)
	return []byte(name), err
}

func (g Guests) named(digest string) (string, error) {
	for name := range g {
		if DigestOf(name) == digest {
			return name, nil
		}
	}
	return "", &abi.Failure{Code: abi.FailurePluginMissing, Message: "no module " + digest}
}

// Personas returns a Persona for each guest, which may do everything: the one of the guest
// "echo" has the id persona_echo.
func (g Guests) Personas() (list []abi.Persona) {
	for name := range g {
		list = append(list, abi.Persona{
			Envelope: abi.Envelope{ID: "persona_" + name}, Name: name, Version: "1", EntryWorkflow: name,
			Description: name, AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional,
			Tools: []string{}, Capabilities: []string{},
		})
	}
	return list
}

type module Guest

// HasExport says that a guest has the exports of the bundled agent.
func (module) HasExport(name string) bool { return name == abi.DefaultExport || name == "remote" }

func (module) Imports() []string {
	var all []string
	for _, c := range abi.HostCalls() {
		all = append(all, c.Name)
	}
	return all
}

func (m module) Run(ctx context.Context, _ string, h sandbox.Host, _ sandbox.Limits) (sandbox.Usage, error) {
	return sandbox.Usage{HostCalls: 1}, m(ctx, h)
}

// Call makes a host call that is to succeed.
func Call(ctx context.Context, h sandbox.Host, call, request string) error {
	if status, answer, _ := h.Call(ctx, call, []byte(request)); status != abi.CallOK {
		return fmt.Errorf("%s: status %d: %s", call, status, answer)
	}
	return nil
}

// Echo answers with a Message.
func Echo(ctx context.Context, h sandbox.Host) error {
	if err := Call(ctx, h, abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"text","text":"hello"}]}`); err != nil {
		return err
	}
	return Call(ctx, h, abi.CallOutput, `{"summary":"said hello"}`)
}

// Holding returns a guest that runs until it is let go or stopped. It sends on entered when it
// begins; a send on leave, or its close, lets it end as [Echo] does.
func Holding() (g Guest, entered, leave chan struct{}) {
	entered, leave = make(chan struct{}, 100), make(chan struct{})
	return Hold(entered, leave, Echo), entered, leave
}

// Hold returns a guest that sends on entered, and goes on as another when it has received from
// leave.
func Hold(entered chan<- struct{}, leave <-chan struct{}, then Guest) Guest {
	return func(ctx context.Context, h sandbox.Host) error {
		entered <- struct{}{}
		select {
		case <-leave:
			return then(ctx, h)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
