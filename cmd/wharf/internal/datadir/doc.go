// Package datadir handles data folders that no node has open: it recognizes them,
// copies them and puts one in the place of another.
package datadir
