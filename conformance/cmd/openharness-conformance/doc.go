// Command openharness-conformance checks a harness of a server of the Open Harness API 0.2.0 and
// prints a report.
//
//	openharness-conformance --server http://127.0.0.1:8080 --api-key KEY --harness wharf
//
// It exits with 0 when the golden rule is kept: no check failed in a domain that the harness says
// it supports. It exits with 1 when one did (or, with --strict, when any check failed or could not
// be made), and with 2 when nothing could be checked.
package main
