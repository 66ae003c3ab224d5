package engine

// The locks of the engine, in the order in which a goroutine takes them: one that it
// holds stands above each one that it takes. There is no other order, and a build with
// the tag lockcheck panics where one is taken against it (package lockrank).
//
// Under any of them a goroutine waits for the disk at most, never for another goroutine:
// not for a run, a worker or a client. Some may be held over the disk ("disk"), and so
// make others wait for it: those come first. What follows after them is held for moments,
// and by whoever orders its batches: over [storage.Store.Append], which hands over a
// batch and may wait for room in the store's queue, but not for the disk's answer.
//
//	lockTenants    disk  one tenant is made at a time
//	lockKey        disk  the write of an idempotency key: of several requests one goes on
//	lockDelivery   disk  a delivery's id; a poll takes several, in the order of their keys
//	lockFiles      disk  Workspaces' files come and go, or a backup copies them
//	lockResource   disk  a resource that is read and then changed, by its id (stripes)
//	lockSecret     disk  a Connector's secret that is looked up, and whose use is told
//	lockSource     disk  what a Connector has in memory, and the order of its deliveries
//	lockTask             a Task's steps, and what its run has pending
//	lockSession    disk  the order of a Session's writes: its own changes, or all others
//	lockPersona    disk  a Persona is read into memory (a read)
//	lockChainRead  disk  where a Workspace's chain of receipts stands is read (a read)
//	lockSequence   disk  the sequence of a resource that many tell of (a read)
//	lockChain            the order of a Workspace's receipts
//	lockQuotas           all Quotas, and the order of the batches that state them
//	lockTable            a table of the engine: a look, and no other lock but the last
//	lockLast             what may be taken under everything: entropy, counts, goroutines
//
// So a Task's end takes lockTask, lockSession (for reading), lockChain and lockQuotas,
// and hands its batch over under all four.
const (
	placeTenants = iota + 1
	placeKey
	placeDelivery
	placeFiles
	placeResource
	placeSecret
	placeSource
	placeTask
	placeSession
	placePersona
	placeChainRead
	placeSequence
	placeChain
	placeQuotas
	placeTable
	placeLast
)

type (
	lockTenants   struct{}
	lockKey       struct{}
	lockDelivery  struct{}
	lockFiles     struct{}
	lockResource  struct{}
	lockSecret    struct{}
	lockSource    struct{}
	lockTask      struct{}
	lockSession   struct{}
	lockPersona   struct{}
	lockChainRead struct{}
	lockSequence  struct{}
	lockChain     struct{}
	lockQuotas    struct{}
	lockTable     struct{}
	lockLast      struct{}
)

// Rank implements [lockrank.Ranked], as those that follow do.
func (lockTenants) Rank() (int, string)  { return placeTenants, "the making of tenants" }
func (lockKey) Rank() (int, string)      { return placeKey, "an idempotency key" }
func (lockDelivery) Rank() (int, string) { return placeDelivery, "a delivery's id" }
func (lockFiles) Rank() (int, string)    { return placeFiles, "the workspaces' files" }
func (lockResource) Rank() (int, string) { return placeResource, "a resource" }
func (lockSecret) Rank() (int, string)   { return placeSecret, "a connector's secret" }
func (lockSource) Rank() (int, string)   { return placeSource, "a connector" }
func (lockTask) Rank() (int, string)     { return placeTask, "a task" }
func (lockSession) Rank() (int, string)  { return placeSession, "a session" }
func (lockPersona) Rank() (int, string)  { return placePersona, "the reading of personas" }
func (lockChainRead) Rank() (int, string) {
	return placeChainRead, "the reading of a chain of receipts"
}
func (lockSequence) Rank() (int, string) { return placeSequence, "a sequence" }
func (lockChain) Rank() (int, string)    { return placeChain, "a chain of receipts" }
func (lockQuotas) Rank() (int, string)   { return placeQuotas, "the quotas" }
func (lockTable) Rank() (int, string)    { return placeTable, "a table" }
func (lockLast) Rank() (int, string)     { return placeLast, "a leaf" }

// Several implements [lockrank.Several].
func (lockDelivery) Several() {}
