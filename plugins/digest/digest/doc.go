// Package digest reads a document and says what is in it: an outline, counts, the
// sentences that say most, and its links. The same document always gives the same
// digest; nothing is asked of anybody else.
//
// Key sentences are found without a model: each sentence is weighted by the words
// that it shares with the document as a whole, the best are ranked by TextRank
// (Mihalcea and Tarau, 2004) among themselves, and those that repeat a better one
// are left out.
package digest
