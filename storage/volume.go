package storage

import (
	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// What a Workspace takes ([Sizer]) is what its events take, and the content that is theirs alone: values that are blobs, the
// content of Artifacts, and what calls were asked and have answered. What Tasks run is the node's.

// ContentSize returns how large the content of an Artifact is that a record brings into being, 0 for any other record. It is
// what the Artifact says: it may be somewhere else, and be stored here later.
func ContentSize(r *Record) int64 {
	if !r.Created || r.Resource.Object != abi.ObjectArtifact {
		return 0
	}
	var a struct {
		Size int64 `json:"size_bytes"`
	}
	if err := json.Unmarshal(r.State, &a); err != nil || a.Size < 0 || a.Size > maxContent {
		return 0
	}
	return a.Size
}

// maxContent is more than any content has: sums of it do not overflow.
const maxContent = 1 << 50

// referless reports whether records of an object refer to no blobs by their hashes.
func referless(o abi.Object) bool {
	switch o {
	case abi.ObjectReceipt, abi.ObjectReceiptBatch, abi.ObjectDelivery, abi.ObjectQuota, abi.ObjectMessage, abi.ObjectMemory:
		return true
	}
	return false
}

// Named returns the blobs that the payloads of a frame name as content of its own.
func Named(f *Frame) (all []Hash) {
	for i := range f.Records {
		r := &f.Records[i]
		if r.Resource.Object == abi.ObjectTask || f.TaskID != "" && !referless(r.Resource.Object) {
			all = blobMembers(all, r.Payload)
		}
	}
	return all
}
