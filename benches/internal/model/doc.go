// Package model is a provider of models for measurements: a server that speaks the wire format of
// chat completions and streams its answer piece by piece, the first one when it is told to.
package model
