// Package disk watches the file system that a node's data lies on. While less is free than a reserve,
// new work is refused ([Watch.NewWork]) or waits ([Watch.Await]), so that what runs already can end;
// while hardly anything is free, the calls of running Tasks wait, too ([Watch.AwaitCall]). Room that
// comes back is used at once.
//
// Free room is read by a ticker, never for a request. How it is read, and the clock, are given, so a test
// plays any sequence. [Usage] counts what the folder holds by kind, in the background; [Watch.State] has
// when the disk will be full, as far as it goes on as it has.
//
// A nil *Watch watches nothing: it refuses nothing, and nothing waits.
package disk
