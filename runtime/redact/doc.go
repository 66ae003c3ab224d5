// Package redact withholds from JSON documents what their readers may not see: content that
// says of itself that it is not public.
//
// [Document] and [Bare] do so for what plugins and clients wrote, [State] for the resource
// that an event states, and [Call] for the host call that it tells.
//
// It is pure. A document costs its bytes of memory and time in proportion to them, whatever
// it is made of.
package redact
