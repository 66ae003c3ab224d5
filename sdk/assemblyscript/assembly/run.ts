import { connectorDeliveries, tryConnectorNormalized, tryOutput } from "./calls";
import { beginConnector } from "./end";
import { Task } from "./task";
import { Connector, Delivery, Failure, NormalizedDelivery } from "./types";

/** What a Task results in. */
export class Outcome {
  /** One line for people. */
  summary: string = "";
  /** Numbers worth keeping, by name. */
  metrics: Map<string, f64> = new Map<string, f64>();
  /** Why the model has stopped that the summary is of. */
  stop_reason: string = "";
  /** Why the Task has failed; then the rest does not count. */
  failure: Failure | null = null;
}

/** An outcome that is a failure with a code of the plugin's own. */
export function fail(code: string, message: string): Outcome { return { failure: { code, message } }; }

/** Reads the Task, calls the function, and tells the host what it returned. An export is one line of it. */
export function main(handler: (task: Task) => Outcome): i32 {
  const outcome = handler(Task.read());
  if (outcome.failure) return i32(tryOutput({ failure: outcome.failure }) !== null);
  const error = tryOutput({ summary: outcome.summary, metrics: outcome.metrics, stop_reason: outcome.stop_reason });
  return i32(error !== null);
}

/**
 * Reads the deliveries, calls the function for each, and tells the host what they mean. One that cannot be
 * made sense of has a failure, and the others are not touched by it.
 */
export function connector(handler: (connector: Connector, delivery: Delivery) => NormalizedDelivery): i32 {
  beginConnector();
  const given = connectorDeliveries(), results: NormalizedDelivery[] = [];
  for (let i = 0; i < given.deliveries.length; i++) {
    const delivery = given.deliveries[i], meant = handler(given.connector, delivery);
    meant.id = delivery.id;
    results.push(meant);
  }
  return i32(tryConnectorNormalized({ results }) !== null);
}
