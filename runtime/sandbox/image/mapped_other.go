//go:build !linux || !(amd64 || arm64)

package image

import "errors"

func newMapped([]byte) (source, error) { return nil, errors.ErrUnsupported }
