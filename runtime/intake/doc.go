// Package intake serves Connectors to callers, takes what is delivered to them, and does what
// that means. An [Intake] is the whole of it.
//
// A delivery's way: it is checked, told from all others by its id, and put on disk (deliveries,
// replays); a worker has the Connector's plugin say what a batch of them means (workers,
// normalize, batchhost); that becomes Tasks, Messages and events, or a dead letter (settle,
// deadletters). What a schedule or a poll brings is a delivery, too (polling, handover).
// Package backlog decides where the pending ones are, and who works on them.
//
// Its invariants:
//
//   - A delivery is on disk before anybody learns that it was taken. It has its effect once
//     within the window of its Connector, however often it comes, and over crashes.
//   - A delivery is settled in the batch that records the last thing it means: a crash leaves
//     it pending or done with. Everything else that it means has ids that follow from it, so
//     that nothing is there twice when it is done again.
//   - Nothing of a delivery is looked at before its signature is checked, unless a caller that
//     may write Connectors hands it over.
//   - Deliveries of one Connector are settled in the order in which they came, one worker at a
//     time, except those that were driven again.
//   - What a plugin fails at is put aside alone; the node's own faults put nothing aside.
//   - Every event of a Connector is handed over under the lock of its inlet, which gives it its
//     sequence.
//   - What was received is settled or pending: the counts say so, and outlive a restart.
//
// It asks for a part that runs Tasks ([Tasks]), one that runs plugins ([apart.Plugins]) and one that
// knows the tenants ([Tenants]), and knows nothing of what implements them.
package intake
