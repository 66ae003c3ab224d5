// Package compare finds where the records of two Tasks differ.
package compare
