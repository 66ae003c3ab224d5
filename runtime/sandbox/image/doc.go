// Package image makes linear memories that begin as a snapshot, and become that
// snapshot again after each use at the price of what the guest changed.
//
// An [Image] holds the snapshot once, however many memories begin with it. A
// [Memory] is one guest's linear memory: it grows within a reservation, and
// [Memory.Reset] takes it back.
//
// On Linux an image is a sealed memfd that memories map privately: what a guest
// only reads is shared, what it writes becomes its own page. The kernel knows which
// pages those are, and so Reset needs neither to guess nor to compare: every page
// that belongs to the memory alone is either written over with the image's or given
// back, and any other page is the image's. Where the kernel does not tell, the whole
// mapping is given back. Elsewhere, and where memfds are not allowed, a memory is a
// plain buffer that is copied over.
package image
