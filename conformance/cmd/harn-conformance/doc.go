// Command harn-conformance checks a server of the Harn Agents Protocol v1 and
// prints a report.
//
//	harn-conformance --server http://127.0.0.1:8080 --api-key KEY
//
// It exits with 0 when every MUST that could be checked is kept, with 1 when one
// is not (or, with --strict, a SHOULD), and with 2 when nothing could be checked.
package main
