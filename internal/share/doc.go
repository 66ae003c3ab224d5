// Package share divides what a long test does among several runs of it: each run of CI
// does a share, which one follows from the commit, and a developer's run does all.
package share
