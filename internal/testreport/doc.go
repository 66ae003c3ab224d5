// Command testreport reads what several runs of "go test -json" printed and says
// what came of each test, for people and for scripts:
//
//	testreport FILE...
//
// A test that ran more than once (with the race detector, with the long tests)
// counts once: as failed if any run failed, else as passed if any run passed,
// else as skipped. Failures are shown with their output, skipped tests with their
// reason. The last line is alone and plain: "N passed, N failed, N skipped". The
// exit code is 1 when anything failed or nothing ran.
package main
