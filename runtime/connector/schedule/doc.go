// Package schedule says when something is to happen next: by the five fields of cron,
// @every 5m, @hourly and the like, in a time zone. It carries the zones itself, so that
// a node needs no files for them.
package schedule
