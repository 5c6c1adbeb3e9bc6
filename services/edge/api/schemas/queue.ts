import assert from "node:assert/strict";
import { parseDuration } from "#kernel/values/duration.ts";
import { choice, setOf, text } from "../../fields/field.ts";
import { always, apart, at, optional, sent } from "../../fields/message.ts";

const DEFAULT_EXPIRES_IN = "P7D";

const onBlocked = setOf("OnBlocked", "What a command does while open positions of the Master block it.", {
  refuse: "It is refused with 409.",
  queue:
    "It is answered with 202 and executed as soon as the Master is flat, unless it expires or is cancelled before.",
});

/** Query of a command that may wait until the Master is flat. */
export const queueQuery = {
  on_blocked: optional(
    at(
      "queueForMs",
      sent<"refuse" | "queue", bigint | undefined>(
        {
          ...onBlocked.of("What happens while open positions of the Master block the command.", "refuse"),
          default: "refuse",
        },
        queueTime,
      ),
    ),
  ),
  expires_in: optional(
    apart(
      text("queue_time", {
        description:
          "With `on_blocked=queue`, how long the command may wait: an ISO 8601 duration of weeks, days, hours, minutes and seconds, from PT1S to P30D. Ignored without it.",
        example: "P7D",
        default: DEFAULT_EXPIRES_IN,
      }),
    ),
  ),
};

type Queue = { readonly on_blocked?: "refuse" | "queue"; readonly expires_in?: string };

/** In milliseconds; undefined for a command that is refused while it is blocked. */
function queueTime(query: object): bigint | undefined {
  const { on_blocked, expires_in = DEFAULT_EXPIRES_IN } = query as Queue;
  if (on_blocked !== "queue") return undefined;
  const ms = parseDuration(expires_in);
  assert(ms !== undefined, "the schema has checked the duration");
  return BigInt(ms);
}

export const queuedStatus = always(
  choice(
    { queued: "Nothing has begun. It waits until the Master is flat." },
    { description: "That it waits; X-Operation-Id is its id.", example: "queued" },
  ),
  "queued",
);
