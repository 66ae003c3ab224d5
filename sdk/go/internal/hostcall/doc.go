// Package hostcall is the border between the SDK and the host: one function for
// each import of the module "wharf". Each returns the call's status and its
// answer, which the caller owns. In a plugin the calls reach the host; natively
// they reach what a test has put in place with [Serve].
package hostcall
