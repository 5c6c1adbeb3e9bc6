import type { JetStreamManager, StreamConfig } from "nats";
import { StartupError } from "../startup-error.ts";
import type { Broker } from "./connect.ts";
import {
  consumerConfig,
  type ConsumerDefinition,
  differencesOf,
  streamConfig,
  type StreamDefinition,
} from "./stream-config.ts";
import { jetStreamManager, orUndefined, START_TRIES, type StartTries, untilAnswered } from "./streams.ts";

export type SetUpOptions = {
  /** Copies of each stream: 3 on a cluster, 1 on a single server. */
  readonly replicas: number;
  readonly tries?: StartTries;
};

type Outcome = "created" | "changed" | "nothing to do";

/**
 * Creates the streams and their durable consumers, or makes them what the services need; needs a user who may change streams. May be repeated,
 * also while services run. Returns a line for each.
 */
export async function setUpStreams(
  broker: Broker,
  definitions: readonly StreamDefinition[],
  { replicas, tries = START_TRIES }: SetUpOptions,
): Promise<string[]> {
  const manager = await jetStreamManager(broker);
  return await untilAnswered(broker, tries, async () => {
    const done: string[] = [];
    for (const definition of definitions) {
      const { name, consumers } = definition;
      done.push(`stream ${name}: ${await setUpStream(manager, definition, replicas)}`);
      for (const consumer of consumers) {
        done.push(`consumer ${consumer.name} of ${name}: ${await setUpConsumer(manager, name, consumer)}`);
      }
    }
    return done;
  });
}

async function setUpStream(
  manager: JetStreamManager,
  definition: StreamDefinition,
  replicas: number,
): Promise<Outcome> {
  const { name, maxBytes } = definition;
  const wanted = {
    ...streamConfig(definition),
    max_bytes: maxBytes,
    num_replicas: replicas,
  } as Partial<StreamConfig> & {
    name: string;
  };
  const existing = await orUndefined(manager.streams.info(name));
  if (existing === undefined) {
    await manager.streams.add(wanted);
    return "created";
  }
  const differences = differencesOf(existing.config, wanted);
  if (differences.length === 0) return "nothing to do";
  try {
    await manager.streams.update(name, wanted);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(
      `stream ${name} cannot be changed (${differences.join(", ")}): ${reason}; delete it and run this again, nothing but signals is lost`,
      { cause: error },
    );
  }
  return "changed";
}

/** A consumer that cannot be changed is created again: it receives all messages once more, and each is only a wake-up signal. */
async function setUpConsumer(
  manager: JetStreamManager,
  stream: string,
  definition: ConsumerDefinition,
): Promise<Outcome> {
  const wanted = consumerConfig(definition) as Parameters<JetStreamManager["consumers"]["add"]>[1];
  const { name } = definition;
  const existing = await orUndefined(manager.consumers.info(stream, name));
  if (existing === undefined) {
    await manager.consumers.add(stream, wanted);
    return "created";
  }
  if (differencesOf(existing.config, consumerConfig(definition)).length === 0) return "nothing to do";
  try {
    await manager.consumers.update(stream, name, wanted);
  } catch {
    await manager.consumers.delete(stream, name);
    await manager.consumers.add(stream, wanted);
  }
  return "changed";
}
