package node

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"

	"github.com/wharf-dev/wharf/storage/pebble"
)

// StartError is why a node could not start, and what to do about it.
type StartError struct {
	What string
	Try  string
	Err  error
}

// Error implements the error interface.
func (e *StartError) Error() string { return e.What }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

func listenError(address string, err error) error {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return &StartError{What: "something else listens on " + address + " already",
			Try: "--listen with another port (0 takes a free one)", Err: err}
	case errors.Is(err, syscall.EACCES):
		return &StartError{What: "this user may not listen on " + address,
			Try: "--listen with a port above 1023", Err: err}
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &dns):
		return &StartError{What: "this machine has no address " + address,
			Try: "--listen 127.0.0.1:8080", Err: err}
	}
	return fmt.Errorf("listening on %s: %w", address, err)
}

func storeError(dir string, err error) error {
	var locked *pebble.LockedError
	var refused *pebble.FolderError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return &StartError{What: "the data folder " + dir + " is not opened, and nothing was written to it: " + refused.Reason,
			Try: refused.Try, Err: err}
	case errors.As(err, &locked):
		return &StartError{What: "the data folder " + dir + " is in use by another process",
			Try: "the commands that work on a running node, or stop it first", Err: err}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return &StartError{What: "the data folder " + dir + " cannot be written",
			Try: "another folder with --data, or give this one to the user that runs Wharf", Err: err}
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return &StartError{What: dir + " is not a folder", Try: "--data with the path of a folder", Err: err}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &StartError{What: "the disk of the data folder " + dir + " is full",
			Try: "again when there is room; nothing that was acknowledged is lost", Err: err}
	}
	return err
}
