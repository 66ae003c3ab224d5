package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// replaced is where the old folder is while a new one takes its place.
func replaced(target string) string { return filepath.Clean(target) + ".replaced" }

// interrupted reports whether a replacement has moved the old folder away and not come
// to an end.
func interrupted(target string) bool {
	_, err := os.Stat(replaced(target))
	return err == nil
}

// Interrupted returns an error when dir is missing because a replacement of it was cut
// short: it says where what was there is.
func Interrupted(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || !interrupted(dir) {
		return nil
	}
	return fmt.Errorf("%s is missing: a restore was interrupted, and what was there is at %s. \"wharf serve\" and \"wharf restore\" put it back, and so does renaming it", dir, replaced(dir))
}

// Replace puts the folder fresh in the place of target. What was there is moved aside
// first, and then to the place where fresh was: the caller removes that. When it is cut
// short anywhere, [Recover] makes target a whole folder, the old or the new one.
func Replace(fresh, target string) error {
	return replace(fresh, target, func(string) error { return nil })
}

// replace calls step before each of its steps; an error of it stops everything, as the
// end of the process would.
func replace(fresh, target string, step func(string) error) error {
	if err := step("away"); err != nil {
		return err
	}
	err := os.Rename(target, replaced(target))
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return fmt.Errorf("moving the old folder away: %w", err)
	}
	if err := step("into place"); err != nil {
		return err
	}
	if err := os.Rename(fresh, target); err != nil {
		if !missing {
			err = errors.Join(err, os.Rename(replaced(target), target))
		}
		return fmt.Errorf("moving the new folder into place: %w", err)
	}
	if err := syncFolder(filepath.Dir(target)); err != nil || missing {
		return err
	}
	if err := step("aside"); err != nil {
		return err
	}
	if err := os.Rename(replaced(target), fresh); err != nil {
		return fmt.Errorf("moving the old folder out of the way: %w", err)
	}
	return syncFolder(filepath.Dir(target))
}

// Recovery says what [Recover] has found.
type Recovery int

const (
	// Untouched: nothing was interrupted.
	Untouched Recovery = iota
	// RolledBack: the new folder had not come into place, and the old one is back.
	RolledBack
	// LeftOver: the new folder is in place, and the old one still beside it.
	LeftOver
)

// Recover brings a replacement of target that was cut short to an end that has a whole
// folder in its place. It removes nothing: of an old folder that was replaced it tells
// where it is.
func Recover(target string) (r Recovery, old string, err error) {
	old = replaced(target)
	if !interrupted(target) {
		return Untouched, "", nil
	}
	vacant, err := Vacant(target)
	if err != nil {
		return Untouched, old, err
	}
	if !vacant {
		return LeftOver, old, nil
	}
	if err := Recognize(old); err != nil {
		return Untouched, old, fmt.Errorf("a restore of %s was interrupted, and what was there cannot be put back: %w", target, err)
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Untouched, old, fmt.Errorf("removing an empty folder: %w", err)
	}
	if err := os.Rename(old, target); err != nil {
		return Untouched, old, fmt.Errorf("putting the old folder back: %w", err)
	}
	return RolledBack, old, syncFolder(filepath.Dir(target))
}
