// Package background owns goroutines: those that a part of the node begins by itself, for a
// timer or because something has ended. A [Group] has begun each, so that whoever drains the
// part can wait for all of them, and none is begun afterwards.
//
// It knows the order of locks and nothing else of ours.
package background
