import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "nats";
import { DAY_MS } from "../values/duration.ts";

export type StreamDefinition = {
  readonly name: string;
  readonly subjects: readonly string[];
  /** A stream of this size rejects new messages; it never drops old ones. */
  readonly maxBytes: number;
  readonly consumers: readonly ConsumerDefinition[];
};

export type ConsumerDefinition = {
  /** Of the service that reads; all its replicas share it. */
  readonly name: string;
  /** The one subject, wildcards allowed, that the consumer filters. */
  readonly subject: string;
};

/** A consumer that was down for longer reads the older entries from the outbox of their owner. */
const MAX_AGE_MS = 14 * DAY_MS;
/** The largest event, a mirror with its flows, fits. */
const MAX_MESSAGE_BYTES = 65_536;
/** Longer than a relay repeats a publication that was not acknowledged. */
const DUPLICATE_WINDOW_MS = 300_000;
/** As many as one process requests; more would only wait in its memory. */
const MAX_ACK_PENDING = 500;
/** Longer than a read of the feed. A message that a crashed process has taken is delivered again after this time. */
const ACK_WAIT_MS = 30_000;

/** Undefined: the property must not be set. */
type Config<Known> = { readonly [Name in keyof Known]?: Known[Name] | undefined };

/**
 * Limits retention, not a work queue: an early ack of a consumer deletes no message. Discard new: unread messages are never
 * dropped. No client can delete or purge through the API. Nothing is copied to or from other subjects: the broker itself would be
 * the sender of such a message, on any subject.
 */
export function streamConfig({ name, subjects }: StreamDefinition): Config<StreamConfig> & { readonly name: string } {
  return {
    name,
    subjects: [...subjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_age: nanos(MAX_AGE_MS),
    max_msg_size: MAX_MESSAGE_BYTES,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    deny_delete: true,
    deny_purge: true,
    republish: undefined,
    sources: undefined,
    mirror: undefined,
    subject_transform: undefined,
    allow_direct: false,
    allow_rollup_hdrs: false,
  };
}

/** Works with NATS 2.9: one filter subject, no back-off list (it would override ack_wait), redelivery without limit. */
export function consumerConfig({
  name,
  subject,
}: ConsumerDefinition): Config<ConsumerConfig> & { readonly durable_name: string } {
  return {
    durable_name: name,
    filter_subject: subject,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACK_WAIT_MS),
    max_ack_pending: MAX_ACK_PENDING,
    max_deliver: -1,
    // Messages are pulled: the broker sends none on a subject that a configuration names.
    // oxlint-disable-next-line typescript/no-deprecated -- another one may have set it
    deliver_subject: undefined,
    backoff: undefined,
  };
}

/** What an operator has to know of each property that is not as wanted. */
export function differencesOf<Known extends object>(existing: Known, wanted: Config<Known>): string[] {
  return Object.keys(wanted)
    .map((name) => ({ name, is: textOf(existing[name as keyof Known]), shall: textOf(wanted[name as keyof Known]) }))
    .filter(({ is, shall }) => is !== shall)
    .map(({ name, is, shall }) => `${name} is ${is} instead of ${shall}`);
}

/** Servers leave out some properties that are off, and send others. */
function textOf(value: unknown): string {
  const isOff = value === undefined || value === null || value === false || value === "";
  return isOff || (Array.isArray(value) && value.length === 0) ? "off" : JSON.stringify(value);
}
