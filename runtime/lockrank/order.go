package lockrank

// The locks of the engine, in the order in which a goroutine takes them: one that it
// holds stands above each one that it takes. There is no other order, and a build with
// the tag lockcheck panics where one is taken against it.
//
// Under any of them a goroutine waits for the disk at most, never for another goroutine:
// not for a run, a worker or a client. Some may be held over the disk ("disk"), and so
// make others wait for it: those come first. What follows after them is held for moments,
// and by whoever orders its batches: over the store's Append, which hands over a batch
// and may wait for room in the store's queue, but not for the disk's answer.
//
//	Tenants    disk  one tenant is made at a time
//	Key        disk  the write of an idempotency key: of several requests one goes on
//	Delivery   disk  a delivery's id; a poll takes several, in the order of their keys
//	Files      disk  Workspaces' files come and go, or a backup copies them
//	Inbox      disk  a Session's inbox: what comes there, and what a Task takes, which is woken under it (stripes)
//	Resource   disk  a resource that is read and then changed, by its id (stripes)
//	Secret     disk  a Connector's secret that is looked up, and whose use is told
//	Inlet      disk  what a Connector has in memory, and the order of its deliveries
//	Task             a Task's steps, and what its run has pending
//	Session    disk  the order of a Session's writes: its own changes, or all others
//	Persona    disk  a Persona is read into memory (a read)
//	ChainRead  disk  where a Workspace's chain of receipts stands is read (a read)
//	Sequence   disk  the sequence of a resource that many tell of (a read)
//	Chain            the order of a Workspace's receipts
//	Quotas           all Quotas, and the order of the batches that state them
//	Table            a table of the engine: a look, and no other lock but the last
//	Last             what may be taken under everything: entropy, counts, goroutines
//
// So a Task's end takes Task, Session (for reading; for writing where it closes a hidden one),
// Chain and Quotas, and hands its batch over under all four.
const (
	placeTenants = iota + 1
	placeKey
	placeDelivery
	placeFiles
	placeInbox
	placeResource
	placeSecret
	placeInlet
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

// The ranks of the locks, by what they guard; the list is above.
type (
	Tenants   struct{}
	Key       struct{}
	Delivery  struct{}
	Files     struct{}
	Inbox     struct{}
	Resource  struct{}
	Secret    struct{}
	Inlet     struct{}
	Task      struct{}
	Session   struct{}
	Persona   struct{}
	ChainRead struct{}
	Sequence  struct{}
	Chain     struct{}
	Quotas    struct{}
	Table     struct{}
	Last      struct{}
)

// Rank implements [Ranked], as those that follow do.
func (Tenants) Rank() (int, string)  { return placeTenants, "the making of tenants" }
func (Key) Rank() (int, string)      { return placeKey, "an idempotency key" }
func (Delivery) Rank() (int, string) { return placeDelivery, "a delivery's id" }
func (Files) Rank() (int, string)    { return placeFiles, "the workspaces' files" }
func (Inbox) Rank() (int, string)    { return placeInbox, "an inbox" }
func (Resource) Rank() (int, string) { return placeResource, "a resource" }
func (Secret) Rank() (int, string)   { return placeSecret, "a connector's secret" }
func (Inlet) Rank() (int, string)    { return placeInlet, "a connector" }
func (Task) Rank() (int, string)     { return placeTask, "a task" }
func (Session) Rank() (int, string)  { return placeSession, "a session" }
func (Persona) Rank() (int, string)  { return placePersona, "the reading of personas" }
func (ChainRead) Rank() (int, string) {
	return placeChainRead, "the reading of a chain of receipts"
}
func (Sequence) Rank() (int, string) { return placeSequence, "a sequence" }
func (Chain) Rank() (int, string)    { return placeChain, "a chain of receipts" }
func (Quotas) Rank() (int, string)   { return placeQuotas, "the quotas" }
func (Table) Rank() (int, string)    { return placeTable, "a table" }
func (Last) Rank() (int, string)     { return placeLast, "a leaf" }

// Several implements [Several].
func (Delivery) Several() {}
