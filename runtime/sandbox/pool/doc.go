// Package pool keeps things that are costly to make for their next use: no more of
// them than were in use at once lately, and no more bytes than a budget that many
// pools share.
//
// A [Pool] is a stack: what was used last, and is warmest, is used next, and what lies
// at the bottom grows old. A thing that is idle for a while is trimmed; when even that
// is too much, it is dropped. Nothing runs by itself: pools are shrunk when things are
// put into them, and by [Budget.Sweep].
package pool
