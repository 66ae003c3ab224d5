//go:build !unix

package datadir

import "errors"

func pipe(string) error { return errors.ErrUnsupported }
