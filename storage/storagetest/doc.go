// Package storagetest is the contract of [storage.Store] as tests that every engine runs:
//
//	func TestContract(t *testing.T) { storagetest.Run(t, func() storagetest.Engine { … }) }
//
// Each test states one thing that callers rely on. [Run] ends with a machine that makes
// random writes, restarts and crashes to the engine and to the plain model in package
// memory, and asks both the same questions.
//
// What an engine offers beside the contract ([storage.Retainer], [storage.Checker]) is tested
// on the engines that offer it. An engine keeps tests of its own for what only it has: its
// bytes, its files, what it costs.
package storagetest
