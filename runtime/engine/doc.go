// Package engine is the one core behind every transport: it accepts Tasks,
// schedules and runs them, cancels and recovers them, and answers reads.
//
// [Step] is the lifecycle as a pure function; [Engine] performs what it asks for.
// Every write goes through [Engine.commit]: one batch, one wait for the disk, and
// only then an answer. Authorization beyond a caller's scopes, idempotency and
// events happen here, once, so that adapters stay thin.
package engine
