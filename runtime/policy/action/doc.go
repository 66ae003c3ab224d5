// Package action says what a host call does, as policy looks at it: by its request alone, so that a
// call is described the same whoever makes it, live or on a replay.
//
// It is pure. It may import abi, the tools of the host, policy and what calls are refused with.
package action
