// Package jsonpath finds values in JSON by the expressions of RFC 9535: names, indices,
// slices, wildcards, descendants and filters; all of it but functions. The libraries
// for this work on trees of maps, which a guest would build anew for each delivery;
// this one works on a [tape.Doc]. An expression cannot take forever: what it visits is
// counted.
package jsonpath
