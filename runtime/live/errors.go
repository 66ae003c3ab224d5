package live

import (
	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// The reasons of conflicts, as their details have them.
const (
	reasonNotController = "not_controller"    // the client that the request names does not control the Session
	reasonControlled    = "controller_exists" // another client controls it
	reasonOfAnother     = "client_taken"      // another actor has attached a client of this id
)

// conflict says what stands against a request of a client, and who controls the Session.
func conflict(reason, client string, controller *string, format string, args ...any) error {
	err := abi.Errorf(abi.CodeConflict, format, args...)
	err.Details, _ = json.Marshal(map[string]any{"reason": reason, "client_id": client, "active_controller_id": controller}, json.Deterministic(true)) // strings can be marshaled
	return err
}

func notController(client string, controller *string) error {
	if controller == nil {
		return conflict(reasonNotController, client, nil, "client %q does not control this session, and nobody does: attach it as the controller", client)
	}
	return conflict(reasonNotController, client, controller, "client %q does not control this session: %q does", client, *controller)
}

func taken(client, controller string) error {
	return conflict(reasonControlled, client, &controller, "%q controls this session already: take it over, or attach %q as an observer", controller, client)
}

// ofAnother refuses whoever acts as a client that another actor has attached. It does not say who
// that is.
func ofAnother(client string) error {
	err := abi.Errorf(abi.CodeConflict, "client %q of this session was attached by another actor: attach a client of another id", client)
	err.Details, _ = json.Marshal(map[string]string{"reason": reasonOfAnother, "client_id": client}, json.Deterministic(true)) // strings can be marshaled
	return err
}
