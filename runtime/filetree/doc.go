// Package filetree reads a folder of files that a stranger has packed, from a zip or from a
// disk, into memory. A tree that it returns holds nothing but files with plain names, the same on
// every system, and no more of them than [Limits] allows. It writes nothing anywhere, follows no
// link and believes no size that an archive states.
package filetree
