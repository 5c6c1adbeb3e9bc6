import {
  DiscardPolicy,
  ErrorCode,
  type JetStreamManager,
  nanos,
  type NatsError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "nats";
import { setTimeout as sleep } from "node:timers/promises";
import { StartupError } from "../startup-error.ts";
import { DAY_MS } from "../duration.ts";
import type { Broker } from "./connect.ts";

export type StreamDefinition = {
  readonly name: string;
  readonly subjects: readonly string[];
  /** A stream of this size rejects new messages; it never drops old ones. */
  readonly maxBytes: number;
  /** 3 on a cluster, 1 on a single server. */
  readonly replicas: number;
};

/** A consumer that was down for longer reads the older entries from the outbox of their owner. */
const MAX_AGE_MS = 14 * DAY_MS;
/** The largest event, a mirror with its flows, fits. */
const MAX_MESSAGE_BYTES = 65_536;
/** Longer than a relay repeats a publication that was not acknowledged. */
const DUPLICATE_WINDOW_MS = 300_000;
const STREAM_NOT_FOUND = 10_059;
/** A cluster that has just started elects a leader first. */
const START_TRIES = 10;
const START_PAUSE_MS = 300;

/** Creates or updates the streams. Any number of services may do it at the same time. */
export async function ensureStreams(broker: Broker, definitions: readonly StreamDefinition[]): Promise<void> {
  const manager = await jetStreamManager(broker);
  for (const definition of definitions) await ensureStream(manager, definition);
}

/** At start: waits a short time for JetStream, and then throws a StartupError. */
export async function requireStreams(broker: Broker, definitions: readonly StreamDefinition[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ensureStreams(broker, definitions);
    } catch (error) {
      if (tries >= START_TRIES) throw startError(broker, error);
      await sleep(START_PAUSE_MS);
    }
  }
}

export async function jetStreamManager({ connection }: Broker): Promise<JetStreamManager> {
  return await connection.jetstreamManager({ checkAPI: false });
}

async function ensureStream(manager: JetStreamManager, definition: StreamDefinition): Promise<void> {
  const wanted = configOf(definition);
  const existing = await manager.streams.info(definition.name).catch((error: unknown) => {
    if ((error as Partial<NatsError>).api_error?.err_code === STREAM_NOT_FOUND) return undefined;
    throw error;
  });
  if (existing === undefined) await manager.streams.add(wanted);
  else if (differs(existing.config, wanted)) await manager.streams.update(definition.name, wanted);
}

/**
 * Limits retention, not a work queue: an early ack of a consumer deletes no message. Discard new: unread messages are never
 * dropped. No client can delete or purge through the API.
 */
function configOf({ name, subjects, maxBytes, replicas }: StreamDefinition): Partial<StreamConfig> & { name: string } {
  return {
    name,
    subjects: [...subjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_age: nanos(MAX_AGE_MS),
    max_bytes: maxBytes,
    max_msg_size: MAX_MESSAGE_BYTES,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    num_replicas: replicas,
    deny_delete: true,
    deny_purge: true,
  };
}

function differs(existing: StreamConfig, wanted: Partial<StreamConfig>): boolean {
  return Object.entries(wanted).some(
    ([name, value]) => JSON.stringify(existing[name as keyof StreamConfig]) !== JSON.stringify(value),
  );
}

function startError({ address }: Broker, error: unknown): StartupError {
  const cause = { cause: error };
  const { code, message } = error as Partial<NatsError>;
  if (code === ErrorCode.NoResponders) {
    return new StartupError(`NATS at ${address} has no JetStream: start nats-server with -js`, cause);
  }
  return new StartupError(
    `JetStream of NATS at ${address} cannot hold the streams: ${message ?? String(error)}`,
    cause,
  );
}
