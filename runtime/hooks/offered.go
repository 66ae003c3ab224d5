package hooks

import (
	"cmp"
	"strings"

	"github.com/wharf-dev/wharf/abi"
)

// offered returns what an installed plugin says of its hook that a command names without an export, as
// wasm:PLUGIN; nil for any other command.
func (k *Keeper) offered(command string) *abi.Hook {
	name, isPlugin := strings.CutPrefix(command, abi.HookPlugin)
	if !isPlugin || k.parts.Offered == nil || strings.Contains(name, "#") {
		return nil
	}
	return k.parts.Offered(name)
}

// complete puts what a plugin says of its hook in the place of what a request leaves out.
func complete(req *abi.CreateHookRequest, by *abi.Hook) error {
	if req.Event == "" {
		req.Event, req.Name = by.Event, cmp.Or(req.Name, by.Name)
	}
	req.Handler.Command = by.Handler.Command
	req.Fail, req.TimeoutMS = cmp.Or(req.Fail, by.Fail), cmp.Or(req.TimeoutMS, by.TimeoutMS)
	return suits(by, req.Event)
}

// suits refuses an event that a plugin's hook is not for, by what it says itself.
func suits(offered *abi.Hook, event abi.HookEvent) error {
	if offered == nil || offered.Event == event {
		return nil
	}
	return abi.InvalidParam("event", "the plugin says that its hook is for %s: leave event out, or name an export, %s", offered.Event, offered.Handler.Command)
}
