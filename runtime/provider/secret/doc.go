// Package secret keeps what plugins may use and never see.
//
// A plugin holds a handle, {{secret:NAME}}, and writes it where the value belongs
// in an outgoing request. The host puts the value there, at the last moment, and
// takes it out of what comes back. A value is a [Value]: it prints as [secret],
// whatever prints it. It is read from its [Source] whenever it is needed, so that
// rotating it needs no restart.
package secret
