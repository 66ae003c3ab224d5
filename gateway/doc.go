// Package gateway is the front door: one fasthttp server with authentication,
// limits, request ids and the error envelope, behind which protocol adapters
// hang their routes.
//
// An [Adapter] describes itself with a table of [Route]s. That one table drives
// the router, the Allow lists of 405 answers, authentication and scope checks,
// the labels of the metrics and the OpenAPI document, so that none of them can contradict the
// others.
//
// A request passes, in this order: connection limit, header and time limits,
// routing, authentication, protocol version, scope, and then the route's [Handler]. Any failure
// on the way is answered with the error envelope and a request_id, even when fasthttp itself
// gives up.
//
// Adapters speak only to the engine, never to storage.
package gateway
