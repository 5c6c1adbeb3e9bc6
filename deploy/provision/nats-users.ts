import streams from "#streams" with { type: "json" };
import { type Service, SERVICES } from "./services.ts";

/** Subjects that a user of the broker may use; everything else is refused. */
export type NatsPermissions = {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** Whether it answers requests, on the subject that each request names. */
  readonly answers: boolean;
};

/** The services whose feeds wake each service. */
const WOKEN_BY: Readonly<Record<Service, readonly Service[]>> = {
  account: [],
  edge: [],
  fee: ["subscription"],
  funding: ["account", "platform", "subscription"],
  platform: [],
  subscription: ["platform"],
};
const WITH_REVIEWS: ReadonlySet<Service> = new Set(["fee", "platform", "subscription"]);
const KEYS_CHANGED = "edge.v1.keys.changed";

/** What a service does with the broker. Its inbox is its own: no other service reads the replies to it. */
export function natsPermissions(service: Service): NatsPermissions {
  const woken = WOKEN_BY[service].map((owner) => `feed.v1.published.${owner}.>`);
  const inbox = `_INBOX.${service}.>`;
  if (service === "edge") {
    const commands = SERVICES.filter((name) => name !== "edge").map((name) => `pamm.v1.${name}.*`);
    const answered = [...WITH_REVIEWS, "operator"].map((name) => `_INBOX.${name}.>`);
    return {
      publish: [...commands, KEYS_CHANGED, ...answered],
      subscribe: [inbox, `pamm.v1.${service}.*`, "$SRV.>", KEYS_CHANGED],
      // It receives what it has sent itself to KEYS_CHANGED: it could name any subject there, and then send to it.
      answers: false,
    };
  }
  return {
    publish: [`feed.v1.published.${service}.>`, ...streamSubjects(service), ...voteSubjects(service)],
    subscribe: [inbox, `pamm.v1.${service}.*`, "$SRV.>", ...woken],
    answers: true,
  };
}

/** A service with reviews asks the edge whether it knows the votes. */
function voteSubjects(service: Service): readonly string[] {
  return WITH_REVIEWS.has(service) ? ["pamm.v1.edge.ConfirmVotes"] : [];
}

/**
 * Of JetStream: a service stores into its own stream, and one consumes. Only the operator creates or changes streams and consumers: with that, a
 * service could have replies to others stored for it, and the broker send what it has published on any subject.
 */
function streamSubjects(service: Service): readonly string[] {
  const { movements, subscriptionEvents } = streams;
  if (service === "platform") return [...movements.subjects, ...stored(movements.name)];
  if (service !== "subscription") return [];
  return [...subscriptionEvents.subjects, ...stored(subscriptionEvents.name), ...consumed(movements.name, service)];
}

/** Its configuration, and its own messages. */
function stored(stream: string): readonly string[] {
  return ["INFO", "MSG.GET"].map((call) => `$JS.API.STREAM.${call}.${stream}`);
}

function consumed(stream: string, consumer: string): readonly string[] {
  return [
    `$JS.API.STREAM.INFO.${stream}`,
    ...["INFO", "MSG.NEXT"].map((call) => `$JS.API.CONSUMER.${call}.${stream}.${consumer}`),
    `$JS.ACK.${stream}.${consumer}.>`,
  ];
}
