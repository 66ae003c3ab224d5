// Package answers reads what servers answer, for the suites of all protocols: streams of events, and
// what is said of an answer in a report. It knows no protocol.
package answers
