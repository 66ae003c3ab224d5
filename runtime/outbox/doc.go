// Package outbox sends events to Webhooks: receivers outside of the node. An [Outbox] serves
// Webhooks to callers, and has a queue of its own for each.
//
// Nothing is written when an event happens that a Webhook wants. That it is to be sent follows
// from the log: from the event, and from what the Webhook wanted when it happened, for changes of
// a Webhook are events of the same log. So a queue reads the log from a cursor on. It keeps the
// cursor, and beside it those deliveries that the receiver has not taken at first, each a resource
// that is pending until it is taken or given up.
//
// The files: webhooks and secrets serve callers; queue is a Webhook's loop; reading decides what
// is to be sent, sending what is sent now, keeping what is written; attempt makes one request;
// pace is when to try again; ending when a Webhook has outlived its Task; deliveries shows what
// was not taken, and drives it again.
//
// Its invariants:
//
//   - An event that a Webhook wants is taken by its receiver, pending, dead, or lies behind the
//     cursor, over crashes too. It may be sent more than once, always with the same webhook-id.
//   - The cursor passes an event in the batch that records what has become of it, or later.
//   - Retention removes no event behind the cursor: an event of the queue's own is pending there,
//     the pin. What waits too long is given up, so a receiver that is gone, or a Webhook that is
//     paused, holds retention up for that long at most.
//   - What is sent holds what the public may see, and no request goes to an address that the
//     guard of package web refuses. Redirects are not followed.
//   - A queue waits for its own receiver alone. Its attempts, its memory and what it reads ahead
//     are bounded; the log has the rest.
//   - Events about Webhooks are sent to none: each would bring about another.
//
// A queue's loop owns what the queue knows, and is one goroutine. Whatever writes an event of a
// Webhook hands it over under the queue's order, which gives it its sequence.
package outbox
