// Package share divides what a long test does among several runs of it: each run of CI
// does a share, which one follows from the commit, and a developer's run does all. It also
// says which tests the race detector need not see.
package share
