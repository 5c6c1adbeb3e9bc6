import streams from "#streams" with { type: "json" };
import { setTimeout as sleep } from "node:timers/promises";
import { integer, optional, secretUrls, text } from "#kernel/process/config-variables.ts";
import { type Environment, readConfig } from "#kernel/process/config.ts";
import { createLog } from "#kernel/process/log.ts";
import { type Broker, connectNats } from "#kernel/nats/connect.ts";
import { readCertificates } from "#kernel/certificates/read-certificates.ts";
import type { JetStreamManager, StreamConfig } from "nats";
import { StartupError } from "#kernel/process/startup-error.ts";
import {
  consumerConfig,
  type ConsumerDefinition,
  differencesOf,
  streamConfig,
  type StreamDefinition,
} from "#kernel/nats/stream-config.ts";
import { jetStreamManager, orUndefined, START_TRIES, type StartTries, untilAnswered } from "#kernel/nats/streams.ts";

export const settings = {
  /** Of a user who may create and change streams: no service knows it. */
  NATS_SETUP_URL: optional(secretUrls(["nats", "tls"])),
  NATS_CA_FILE: optional(text("a file with certificates in PEM")),
  /** 3 on a cluster, 1 on a single server. */
  NATS_STREAM_REPLICAS: integer(1, 5, { whenMissing: "1" }),
};

export type SetUpTarget = {
  readonly url: string;
  /** PEM of the authorities that may have issued the broker's certificate; the system's authorities when absent. */
  readonly ca?: string | undefined;
  readonly replicas: number;
  /** How long to wait for a broker that does not answer yet; 0 when not given. */
  readonly withinMs?: number;
};

const CONNECT_AGAIN_MS = 500;

/** Creates every stream and durable consumer of the services, or repairs them. Returns a line for each. */
export async function setUpAllStreams(target: SetUpTarget): Promise<string[]> {
  await using broker = await connectWithin(target);
  return await setUpStreams(broker, Object.values(streams), { replicas: target.replicas });
}

async function connectWithin({ url, ca, withinMs = 0 }: SetUpTarget): Promise<Broker> {
  const log = createLog({ service: "set-up-streams", level: "warn" });
  for (const deadline = Date.now() + withinMs; ; await sleep(CONNECT_AGAIN_MS)) {
    try {
      return await connectNats({ url, ca, name: "set-up-streams", log });
    } catch (error) {
      if (Date.now() >= deadline) throw error;
    }
  }
}

/** The broker that the operator names; undefined without NATS_SETUP_URL. */
export function readSetUpTarget(env: Environment): SetUpTarget | undefined {
  const { NATS_SETUP_URL, NATS_CA_FILE, NATS_STREAM_REPLICAS: replicas } = readConfig(settings, env);
  if (NATS_SETUP_URL === undefined) return undefined;
  return { url: NATS_SETUP_URL.reveal(), ca: readCertificates("NATS_CA_FILE", NATS_CA_FILE), replicas };
}

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
