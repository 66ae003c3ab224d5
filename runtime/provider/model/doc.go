// Package model answers the host call llm.complete.
//
// A [Models] knows the models that an operator has configured by name. It turns
// the one neutral request ([abi.ModelRequest]) into what a provider speaks, asks
// with retries and fallbacks, and turns the answer back. Three providers exist:
// openai (chat completions; any compatible server), anthropic (messages), and
// script, a file of canned answers for tests and offline use.
//
// Three things hold for every provider. Hidden reasoning is dropped before an
// answer or a delta of it is built; where the operator has a model think aloud, it is told apart. No answer, delta or error holds the API key, also
// when the server echoes it. Streaming changes when watchers see text, never
// what the answer is.
package model
