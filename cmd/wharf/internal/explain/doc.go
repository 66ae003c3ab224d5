// Package explain has a page about each code that a user of Wharf can meet: what it means, what
// to do about it, and an example. "wharf explain" shows the pages, docs/errors.md is made of
// them.
package explain
