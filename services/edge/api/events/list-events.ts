import { demandKnown } from "../../events/event-log.ts";
import { Event } from "../../events/event.ts";
import { demandReadable, permittedTypes } from "../../events/readable-types.ts";
import { ALL_TYPES, readTypes } from "../../fields/event-types.ts";
import { choice, model, text } from "../../fields/field.ts";
import { optional } from "../../fields/message.ts";
import { ascendingPage, integerCursor, limit500 } from "../../fields/page.ts";
import { route } from "../../http/route.ts";
import { refuse } from "../../problems/refusals.ts";
import { wait } from "../schemas/request-fields.ts";

/** Part of the HTTP contract. */
const DEFAULT_LIMIT = 100;

export const listEvents = route("GET /api/v1/events", {
  scope: "events",
  summary: "List events",
  description:
    "Changes of states in one order, each once: deposits, withdrawals, subscriptions, mirrors, exits, fees, breaks and reviews. An event never comes before the route of its subject shows the state. Events of one account are in the order in which the service that has them recorded them. A key reads the types whose subjects it may read: deposits, withdrawals and queued unassigns need `investors:read`, subscriptions, mirrors and exits `subscriptions:read`, fees `fees:read`, breaks and reviews `ops`. 410 when events after `after` may be removed already: nothing is left out silently.",
  returns: "A page of events.",
  query: {
    after: optional(
      integerCursor(
        "Only events with a greater id: the next_cursor of the page before, or the id of the last event that you have processed. Without it, from the oldest event that is kept.",
      ),
    ),
    types: optional(
      text("event_types", {
        description:
          "Only events of these types, separated by commas; `deposit.*` names all types of deposits. 403 for one that the key may not read; without it, all that it may.",
        example: "deposit.*,subscription.cancelled",
      }),
    ),
    begin: optional(
      choice(
        {
          oldest: "With the oldest event that is kept.",
          latest: "After the newest event: with what happens from now on.",
        },
        {
          description: "Where to begin without `after`, with which it has no effect.",
          example: "latest",
          default: "oldest",
        },
      ),
    ),
    limit: limit500(DEFAULT_LIMIT),
    wait: optional(wait("there is an event")),
  },
  reply: model("EventPage", "A page of events. Ascending by id.", ascendingPage(Event)),
  refusals: ["events_removed"],

  async call({ events }, { types, begin, limit, ...request }, { poll, key }) {
    const scopes = [...key.scopes];
    demandReadable(types ?? ALL_TYPES, scopes);
    const isFromNow = request.after === undefined && begin === "latest";
    // Of no type there is no event, so the page reaches the end of the log.
    const after = isFromNow ? (await events.read({ after: 0n, types: [], limit: 1 })).through : (request.after ?? 0n);
    const filter = { after, types: permittedTypes(types === undefined ? undefined : readTypes(types), scopes), limit };
    const {
      events: items,
      removedThrough,
      through: nextCursor,
      hasMore,
    } = await poll.until(
      async () => {
        events.look();
        const page = await events.read(filter);
        demandKnown(after, page);
        return page;
      },
      (page) => page.events.length > 0 || (request.after !== undefined && page.removedThrough > after),
    );
    if (request.after !== undefined && removedThrough > after) throw removed(removedThrough);
    return { items, nextCursor, hasMore };
  },
});

function removed(through: bigint) {
  const message = `Events up to ${through} are no longer kept, so events after the given one may be missing. Read the state of what you follow, then go on without \`after\`.`;
  return refuse("events_removed", message, { details: { removed_through: String(through) } });
}
