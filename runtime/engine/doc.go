// Package engine is the one core behind every transport: it accepts Tasks,
// schedules and runs them, cancels and recovers them, and answers reads.
//
// [lifecycle.Step] is the lifecycle as a pure function; [Engine] performs what it asks for.
// Every write is a batch that package ledger hands to the store, and nobody hears of it before
// it is durable. Package lockrank lists all locks in the order in which they are taken.
// Authorization beyond a caller's scopes, idempotency and events happen here, once, so that
// adapters stay thin.
package engine
