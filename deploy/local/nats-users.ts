import streams from "#streams" with { type: "json" };
import { type Service, SERVICES } from "./settings.ts";

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
/** Durable consumer of the movements. */
const CONSUMER = "subscription";

/** What a service does with the broker. Its inbox is its own: no other service reads the replies to it. */
export function natsPermissions(service: Service): NatsPermissions {
  const woken = WOKEN_BY[service].map((owner) => `feed.v1.published.${owner}.>`);
  const inbox = `_INBOX.${service}.>`;
  if (service === "edge") {
    const commands = SERVICES.filter((name) => name !== "edge").map((name) => `pamm.v1.${name}.*`);
    return {
      publish: [...commands, KEYS_CHANGED],
      subscribe: [inbox, `pamm.v1.${service}.*`, "$SRV.>", KEYS_CHANGED],
      answers: true,
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

/** Of JetStream: a service stores into its own stream, and one consumes. */
function streamSubjects(service: Service): readonly string[] {
  const { movements, subscriptionEvents } = streams;
  if (service === "platform") return [...movements.subjects, ...owned(movements.name)];
  if (service !== "subscription") return [];
  return [
    ...subscriptionEvents.subjects,
    ...owned(subscriptionEvents.name),
    // Whichever of the two starts first creates the stream.
    ...owned(movements.name),
    ...consumed(movements.name),
  ];
}

function owned(stream: string): readonly string[] {
  return ["INFO", "CREATE", "UPDATE", "MSG.GET"].map((call) => `$JS.API.STREAM.${call}.${stream}`);
}

function consumed(stream: string): readonly string[] {
  const calls = ["DURABLE.CREATE", "CREATE", "INFO", "MSG.NEXT"];
  return [
    ...calls.map((call) => `$JS.API.CONSUMER.${call}.${stream}.${CONSUMER}`),
    `$JS.API.CONSUMER.CREATE.${stream}.${CONSUMER}.>`,
    `$JS.ACK.${stream}.${CONSUMER}.>`,
  ];
}
