// Package bills holds the plugin that "wharf demo" shows, besides those that ship with every node. Its source in C is
// in the folder src; go generate ./plugins builds it.
package bills
