// Package hosttools has the tools that a model is offered of the host's own: each stands for a host
// call. A tool says what it is, how its arguments become the request of that call, and which text
// of the answer the model is given; who makes the call is the engine.
//
// It is pure, and may import abi.
package hosttools
