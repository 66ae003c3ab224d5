// Package namedhost is the guard of protocols that browsers could be led to: it refuses what a page
// of a stranger can have a browser send.
package namedhost
