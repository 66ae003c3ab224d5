// Package api is what every protocol adapter asks of the engine: requests with types, and views
// of resources and events that are already what the caller may see.
//
// An adapter gets nothing from here that it would have to withhold from the caller it asked
// for: content that is not public to that caller has given way to a descriptor in every
// [View], [List], [Event] and [Stream]. So an adapter that shows all it is given, shows nobody
// more than they may see; a test with such an adapter holds this. It must not show one
// caller's views to another.
//
// Nothing here knows HTTP: neither requests, paths nor status codes. A write says by a [Write]
// which other write it is the same as; the adapter makes that as its protocol says.
//
// Adapters import this package, the gateway and abi, and no room of the runtime.
package api
