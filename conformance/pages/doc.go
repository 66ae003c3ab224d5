// Package pages holds what stands in help texts and documents to what the program does: every example is run, or a table
// says which other test runs it, or why nothing can.
package pages
