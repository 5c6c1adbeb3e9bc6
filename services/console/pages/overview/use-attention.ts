import type { Models } from "../../../client/index.ts";
import { type Read, useRead } from "../../data/use-read.ts";
import { can } from "../../session/session.ts";

type Listed<Item> = { readonly items: readonly Item[]; readonly has_more: boolean };
export type Operations = Listed<Models["Operation"]>;

export type AttentionReads = {
  readonly unknown?: Read<Operations>;
  readonly pending?: Read<Operations>;
  readonly reviews?: Read<Models["ReviewGroupPage"]>;
  readonly breaks?: Read<Models["BreakPage"]>;
};

const LIMIT = 100;

/** What waits for an outcome or for a decision. A member is missing when the key may not see it. */
export function useAttention(): AttentionReads {
  const seesOperations = can("investors:read", "funds:deposit", "funds:withdraw", "subscriptions:write");
  const seesOps = can("ops");
  const operations = (outcome: "unknown" | "pending") =>
    useRead<Operations>(
      (client, signal) => client.query("listOperations", { query: { outcome, limit: LIMIT } }, { signal }),
      { keys: [], topics: ["operations", "subscriptions"], isPermitted: seesOperations },
    );
  const unknown = operations("unknown");
  const pending = operations("pending");
  const query = { limit: LIMIT };
  const reviews = useRead((client, signal) => client.query("listReviewGroups", { query }, { signal }), {
    keys: [],
    topics: ["reviews"],
    isPermitted: seesOps,
  });
  const breaks = useRead((client, signal) => client.query("listBreaks", { query }, { signal }), {
    keys: [],
    topics: ["breaks"],
    isPermitted: seesOps,
  });
  return {
    ...(seesOperations ? { unknown, pending } : {}),
    ...(seesOps ? { reviews, breaks } : {}),
  };
}
