// Package socket is the load of the WebSocket measurements: connections that ask, wait
// for the answer and ask again; and connections that only stay open.
package socket
