package watching

// NewDeaf returns a watcher that the system tells nothing.
func NewDeaf(o Options) *Watcher { return newWatcher(o, nil) }
