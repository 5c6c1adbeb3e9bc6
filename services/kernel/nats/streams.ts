import { ErrorCode, type JetStreamManager, type NatsError } from "nats";
import { setTimeout as sleep } from "node:timers/promises";
import { StartupError } from "../process/startup-error.ts";
import type { Broker } from "./connect.ts";
import { consumerConfig, differencesOf, streamConfig, type StreamDefinition } from "./stream-config.ts";

/** How often a start asks, and how long it waits in between. */
export type StartTries = { readonly max: number; readonly pauseMs: number };

/** A cluster that has just started elects a leader first. */
export const START_TRIES: StartTries = { max: 10, pauseMs: 300 };
const STREAM_NOT_FOUND = 10_059;
const CONSUMER_NOT_FOUND = 10_014;
/** What to do about a stream that is missing or different. */
export const SET_UP =
  "run node deploy/nats/set-up-streams.ts with NATS_SETUP_URL, the address of the broker with its user operator";

/**
 * At start: waits a short time for the streams and for the consumers of this service, and then throws a StartupError. A service can neither create nor
 * change them, because the owner of a stream decides what the broker sends on any subject.
 */
export async function requireStreams(
  broker: Broker,
  definitions: readonly StreamDefinition[],
  service: string,
  tries = START_TRIES,
): Promise<void> {
  const manager = await jetStreamManager(broker);
  await untilAnswered(broker, tries, async () => {
    for (const definition of definitions) await requireStream(manager, definition, service);
  });
}

export async function jetStreamManager({ connection }: Broker): Promise<JetStreamManager> {
  return await connection.jetstreamManager({ checkAPI: false });
}

/** Tries again for a short time, and then throws a StartupError. */
export async function untilAnswered<T>(
  broker: Broker,
  { max, pauseMs }: StartTries,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= max) throw startError(broker, error);
      await sleep(pauseMs);
    }
  }
}

/** Undefined when there is no such stream or consumer. */
export async function orUndefined<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    const code = (error as Partial<NatsError>).api_error?.err_code;
    if (code === STREAM_NOT_FOUND || code === CONSUMER_NOT_FOUND) return undefined;
    throw error;
  }
}

/** Its size and copies are the operator's choice. */
async function requireStream(manager: JetStreamManager, definition: StreamDefinition, service: string): Promise<void> {
  const { name, consumers } = definition;
  const stream = await orUndefined(manager.streams.info(name));
  refuseDifferent(`stream ${name}`, stream && differencesOf(stream.config, streamConfig(definition)));
  for (const consumer of consumers) {
    if (consumer.name !== service) continue;
    const found = await orUndefined(manager.consumers.info(name, consumer.name));
    refuseDifferent(
      `consumer ${consumer.name} of stream ${name}`,
      found && differencesOf(found.config, consumerConfig(consumer)),
    );
  }
}

function refuseDifferent(what: string, differences: readonly string[] | undefined): void {
  if (differences?.length === 0) return;
  const problem = differences === undefined ? "does not exist" : `is different: ${differences.join(", ")}`;
  throw new StartupError(`${what} ${problem}; ${SET_UP}`);
}

function startError({ address }: Broker, error: unknown): StartupError {
  const cause = { cause: error };
  const { code, message } = error as Partial<NatsError>;
  if (code === ErrorCode.NoResponders) {
    return new StartupError(`NATS at ${address} has no JetStream: start nats-server with -js`, cause);
  }
  return new StartupError(`streams of NATS at ${address}: ${message ?? String(error)}`, cause);
}
