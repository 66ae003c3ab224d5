package registry

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/wharf-dev/wharf/runtime/parcel"
)

// Failure says why a registry did not do what it was asked for.
type Failure struct {
	Reference string
	Denied    bool // it wants other credentials, or the ones that there are may not do this
	Absent    bool // there is no such artefact
	err       error
}

func (f *Failure) Error() string {
	switch {
	case f.Denied:
		return fmt.Sprintf("%s: the registry denies it: %v", f.Reference, f.err)
	case f.Absent:
		return fmt.Sprintf("%s is not in the registry", f.Reference)
	}
	return fmt.Sprintf("%s: %v", f.Reference, f.err)
}

// Unwrap returns what went wrong further down.
func (f *Failure) Unwrap() error { return f.err }

// said tells what a registry has said.
func said(r Reference, err error) error {
	if refused, ok := errors.AsType[*parcel.Refused](err); ok {
		return about(r, refused)
	}
	if errors.Is(err, content.ErrMismatchedDigest) || errors.Is(err, content.ErrTrailingData) || errors.Is(err, content.ErrInvalidDescriptorSize) {
		return about(r, refuse("what the registry sent is not what its digest says: %v", err))
	}
	f := &Failure{Reference: r.String(), err: err, Absent: errors.Is(err, errdef.ErrNotFound), Denied: errors.Is(err, auth.ErrBasicCredentialNotFound)}
	if answer, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		f.Denied = answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden
		f.Absent = f.Absent || answer.StatusCode == http.StatusNotFound
	}
	var timeout net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		f.err = fmt.Errorf("the registry does not go on: %w", err)
	}
	return f
}

func reader(b blob) io.Reader { return bytes.NewReader(b.content) }
