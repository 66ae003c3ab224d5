// Package eventstest holds events that tests have made against what docs/events.schema.json
// says that they tell. It reads that file, and is for tests alone.
package eventstest
