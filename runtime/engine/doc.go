// Package engine is the one core behind every transport: it accepts Tasks,
// schedules and runs them, cancels and recovers them, and answers reads.
//
// [Step] is the lifecycle as a pure function; [Engine] performs what it asks for.
// Every write is a batch that is handed to the store, and nobody is told of it before
// it is durable. What orders batches is a lock; locks.go has all of them in the order in
// which they are taken. Authorization beyond a caller's scopes, idempotency and events
// happen here, once, so that adapters stay thin.
package engine
