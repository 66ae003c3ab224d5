// Package askclient has the client that gave a Task answer in the place of a model, and of a tool: it makes
// the question that the Task parks on, in the shapes of MCP, and reads the answer of the waiting call
// from what was answered.
//
// It may import abi and what refuses calls.
package askclient
