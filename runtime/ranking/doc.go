// Package ranking says how well texts fit a query, by BM25: a word that few texts have counts for
// more, a text that has it often counts for more, and a long one for less.
//
// It is pure, and imports nothing of Wharf.
package ranking
