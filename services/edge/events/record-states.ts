import { Counter } from "prom-client";
import type { EntryOf } from "#kernel/feed/decode-entry.ts";
import type { ConsumerOptions } from "#kernel/feed/consume.ts";
import { afterCommit } from "#kernel/postgres/transaction.ts";
import { StateChanged } from "#proto/pamm/common/v1/state.ts";
import { insertEvents, type NewEvent } from "./store/events.ts";

const recorded = new Counter({
  name: "pamm_events_total",
  help: "Events that callers can read, by kind.",
  labelNames: ["kind"],
});

type Receiver = Pick<ConsumerOptions<typeof StateChanged>, "feed" | "events" | "receive">;

/** Records what a service has published, with the cursor of its feed in one transaction: each change becomes one event. */
export function recordStates(service: string): Receiver {
  return {
    feed: `${service}.states`,
    events: [StateChanged],
    async receive(tx, entries) {
      await insertEvents(
        tx,
        entries.map((entry) => eventOf(service, entry)),
      );
      afterCommit(tx, () => {
        for (const { message } of entries) recorded.inc({ kind: message.kind });
      });
    },
  };
}

function eventOf(service: string, { id, publishedAt, message }: EntryOf<typeof StateChanged>): NewEvent {
  const { kind, state, notedAt, amount, ...facts } = message;
  return {
    key: `${service}-${id}`,
    type: `${kind}.${state.toLowerCase()}`,
    state,
    subject: facts.subject,
    occurredAt: notedAt ?? publishedAt,
    login: facts.login,
    masterLogin: facts.masterLogin,
    operationId: facts.operationId,
    amountMinor: amount?.minorUnits ?? null,
    dealId: facts.dealId,
    reason: facts.reason,
  };
}
