// Package quota counts what work uses against limits. It counts and decides, and does
// nothing else: it reads no clock, does no I/O and holds no lock.
//
// Work that is about to use something reserves the most that it can use, does it, and
// then settles what it used. A hard limit holds what was used and what is reserved
// together, so that work done at once cannot pass it.
package quota
