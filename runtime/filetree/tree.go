package filetree

import (
	"fmt"
	"slices"
	"strings"
)

// Limits bound what is read. Each has to be above 0, but for Ratio.
type Limits struct {
	Files     int   // how many there are at most; as many folders may stand beside them
	FileBytes int64 // of one file
	Bytes     int64 // of all files together, unpacked
	// Ratio is how many bytes an archive may unpack to for each that it has, beyond the first
	// MiB; 0 leaves it to Bytes.
	Ratio int64
}

// Tree is what was read.
type Tree struct {
	// Root is the name of the folder that holds everything, "" for an archive without one.
	Root  string
	Files []File // sorted by Path, byte by byte
}

// File is a file of a tree.
type File struct {
	Path    string // from the root, with slashes, in Unicode's composed form (NFC)
	Content []byte
}

// File returns the file at a path, nil when there is none.
func (t *Tree) File(path string) *File {
	i, found := slices.BinarySearchFunc(t.Files, path, func(f File, path string) int { return strings.Compare(f.Path, path) })
	if !found {
		return nil
	}
	return &t.Files[i]
}

// Bytes returns the size of all files together.
func (t *Tree) Bytes() int64 {
	sum := int64(0)
	for i := range t.Files {
		sum += int64(len(t.Files[i].Content))
	}
	return sum
}

// Code says why something was refused. Codes are stable: callers show them.
type Code string

// The codes.
const (
	PathTraversal Code = "PATH_TRAVERSAL"   // a part of the path is ".."
	PathAbsolute  Code = "PATH_ABSOLUTE"    // it begins with a slash
	PathColon     Code = "PATH_COLON"       // a drive letter, or what Windows takes for a stream
	PathBackslash Code = "PATH_BACKSLASH"   // a slash to some systems, and none to others
	PathControl   Code = "PATH_CONTROL"     // NUL, control characters, line breaks, changes of direction
	PathEncoding  Code = "PATH_NOT_UTF8"    // it is no UTF-8
	PathMalformed Code = "PATH_MALFORMED"   // a part of it is empty or "."
	PathTooLong   Code = "PATH_TOO_LONG"    // all of it, or a part
	PathTooDeep   Code = "PATH_TOO_DEEP"    // too many folders in one another
	PathDuplicate Code = "PATH_DUPLICATE"   // the same name twice
	PathCollision Code = "PATH_COLLISION"   // equal on systems that do not tell upper from lower case
	PathConflict  Code = "PATH_CONFLICT"    // a file that is a folder too
	Symlink       Code = "SYMLINK"          // a symbolic link
	SpecialFile   Code = "SPECIAL_FILE"     // a device, a pipe, a socket
	Encrypted     Code = "ENCRYPTED"        // it takes a password
	Compression   Code = "COMPRESSION"      // a way to compress other than deflate
	NoArchive     Code = "NO_ARCHIVE"       // it is no zip
	Damaged       Code = "ARCHIVE_DAMAGED"  // truncated, or its parts contradict one another
	Zip64         Code = "ARCHIVE_ZIP64"    // the form for archives above 4 GB
	Overlap       Code = "ARCHIVE_OVERLAP"  // two files share bytes
	Checksum      Code = "ARCHIVE_CHECKSUM" // a file is not what it was when it was packed
	TooManyFiles  Code = "TOO_MANY_FILES"
	FileTooLarge  Code = "FILE_TOO_LARGE"
	TooLarge      Code = "TOO_LARGE" // all files together
	RatioTooHigh  Code = "RATIO_TOO_HIGH"
	Changed       Code = "FILE_CHANGED" // while it was read
	Empty         Code = "EMPTY"        // there is no file
)

// Codes returns all codes.
func Codes() []Code {
	return []Code{PathTraversal, PathAbsolute, PathColon, PathBackslash, PathControl, PathEncoding, PathMalformed, PathTooLong,
		PathTooDeep, PathDuplicate, PathCollision, PathConflict, Symlink, SpecialFile, Encrypted, Compression, NoArchive, Damaged,
		Zip64, Overlap, Checksum, TooManyFiles, FileTooLarge, TooLarge, RatioTooHigh, Changed, Empty}
}

// Refusal is the error for what is not read. Other errors say that reading itself failed.
type Refusal struct {
	File   string // its name there, in UTF-8 and cut to what a path may have; it may hold anything. "" for all of it
	Code   Code
	Reason string // in the words of whoever packed it, with what to do
}

func (r *Refusal) Error() string {
	if r.File == "" {
		return r.Reason
	}
	return fmt.Sprintf("%q: %s", r.File, r.Reason)
}

func refuse(file string, code Code, format string, args ...any) error {
	file = strings.ToValidUTF8(file[:min(len(file), maxPath)], "\ufffd")
	return &Refusal{File: file, Code: code, Reason: fmt.Sprintf(format, args...)}
}
