package datadir

import "github.com/wharf-dev/wharf/runtime/disk"

// Spool is the folder of what requests that run have sent.
const Spool = "spool"

// Kinds says what the parts of a data folder are, by name.
func Kinds() map[string]disk.Kind {
	return map[string]disk.Kind{"db": disk.KindLog, "blobs": disk.KindBlobs, Workspaces: disk.KindWorkspaces, Modules: disk.KindCache,
		Keys: disk.KindKeys, Vaults: disk.KindKeys, Spool: disk.KindSpool}
}
