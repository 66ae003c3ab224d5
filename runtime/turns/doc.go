// Package turns has work that takes long take one of few places, so that a processor is
// left to what takes short.
//
// Go's scheduler knows no priorities: who computes has a processor for 10 ms at a time, and
// a request, which is handed from one goroutine to the next some ten times, may wait as long
// each time. So whoever computes for more than a moment enters first, leaves after a turn,
// and enters again. Tenants are served in turns, and the work of one tenant in order. Work
// that is short never comes here, and pays nothing.
package turns
