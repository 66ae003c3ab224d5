// Package web makes the HTTP requests of plugins: abi.CallHTTPFetch.
//
// A request goes to the hosts that the plugin was granted, with the methods that
// it was granted, and so does every redirect. What counts is the address that is
// connected to, at the moment of connecting: a name that leads to a loopback,
// private or link-local address is refused unless the grant says otherwise,
// whatever it led to a moment ago. There is no proxy.
//
// Secrets are put in for the host that they are meant for, and leave the request
// when a redirect leads elsewhere; what comes back is searched for them.
package web
