package engine

import (
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// Stats is a snapshot for metrics and health: a field for each figure.
type Stats struct {
	Queued, Running int
	Accepted        uint64
	Finished        map[abi.TaskStatus]uint64
	Rejected        uint64
	Gas             uint64 // what runs and replays have used, in units
	Instances       Instances
	// QuotaRefusals counts Tasks that a Quota had no room for, PermissionsPending the requests
	// that wait for an answer. SecretsUsed and SecretsRefused count what events say of secrets;
	// TokensChecked counts access tokens, TokensRefused the bad ones.
	QuotaRefusals                uint64
	PermissionsPending           int
	SecretsUsed, SecretsRefused  uint64
	TokensChecked, TokensRefused uint64
	Watermark                    desk.Position
	Started                      time.Time
	Draining                     bool
	Failed                       error // why the store refuses work, nil when all is well
	// SetAside counts, by kind, what could not be read since the node started: the node goes on
	// without it. Tasks that were ended because of that are among them.
	SetAside map[abi.Object]int
}

// Instances says what became of the instances of plugins since the node started.
type Instances struct {
	Running, Idle int64
	IdleBytes     uint64 // what idle instances hold by themselves
	// Born, Reused and Dropped count runs with a new instance, runs with one that was idle, and
	// instances that are gone.
	Born, Reused, Dropped uint64
}
