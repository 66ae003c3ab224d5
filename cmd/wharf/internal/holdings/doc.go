// Package holdings looks at what a data folder holds beside its log: the content that the
// log refers to, keys, the values of secrets and the files of Workspaces. It says what is
// lost or damaged, by its file, and what to do. It changes nothing.
package holdings
