// Package report turns measured samples into figures, compares them with their
// ceilings, and prints the result as a table, as Markdown and as JSON.
package report
