// Package gateway is the front door: one fasthttp server with authentication,
// limits, request ids and the error envelope, behind which protocol adapters
// are mounted.
//
// An [Adapter] describes itself by a [Mount]: the paths that are its own, how it words errors,
// its rule about versions, and a table of [Route]s. That one table drives
// the router, the Allow lists of 405 answers, authentication and scope checks,
// the labels of the metrics and the OpenAPI document, so that none of them can contradict the
// others. Whatever goes wrong below a protocol's paths is said in that protocol's words,
// whoever finds it.
//
// A request passes, in this order: connection limit, header and time limits,
// routing, authentication, protocol version, scope, and then the route's [Handler]. Any failure
// on the way is answered in the protocol's [ErrorShape] with a request_id, even when fasthttp
// itself gives up.
//
// A handler of a net/http library answers through [Request.Bridge], which keeps all of that for
// it, and hands it nothing that fasthttp uses again.
//
// Adapters speak only to the engine, never to storage.
package gateway
