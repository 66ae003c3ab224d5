// Package scheduler decides which job runs next, and runs it on a goroutine.
//
// Invariants, under one lock that is held for moments and never over a job:
//
//   - Width: no more than width jobs run at once, and no job has a goroutine before it runs.
//   - Places: a job is handed over in a place that was reserved for it, so nothing that was
//     accepted is ever dropped. Only what an earlier life of the node has accepted comes
//     without one.
//   - Fairness: tenants are served in turn, and one has at most three quarters of the queue,
//     so that a tenant that submits much delays nobody else.
//   - Lines: a job of a [Line] begins when the one before it has ended.
//   - Trials: a suspect starts before all others, and nothing starts beside one that is tried.
//
// The package knows nothing of Tasks, the engine or the store: a job is a pointer to whatever
// its caller runs, and says of itself what stands in [Job]. Package lockrank says where its
// lock stands among others.
package scheduler
