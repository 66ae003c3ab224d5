package memory

import (
	"context"

	"github.com/wharf-dev/wharf/storage"
)

// SizeOf implements [storage.Sizer]. A frame takes what its states and payloads do.
func (s *Store) SizeOf(_ context.Context, t storage.Tenant, workspace string) (bytes int64, known bool, err error) {
	err = s.locked(func() error {
		for _, f := range s.kept.frames {
			if f.Tenant == t && f.WorkspaceID == workspace && workspace != "" {
				bytes += s.volume(f)
			}
		}
		return nil
	})
	return bytes, err == nil, err
}

func (s *Store) volume(f *storage.Frame) (n int64) {
	for i := range f.Records {
		r := &f.Records[i]
		n += int64(len(r.State)+len(r.Payload)) + storage.ContentSize(r)
	}
	for _, h := range storage.Named(f) {
		n += int64(len(s.kept.blobs[h]))
	}
	return n
}
