// Package show renders what the commands print for people: tables, events as
// they arrive, outcomes and errors. Colours appear on a terminal only.
//
// What comes from a node may hold anything a plugin or a document put there:
// control characters are taken out before a terminal sees them.
package show
