import type { Models } from "../../../client/index.ts";
import { type Read, useRead } from "../../data/use-read.ts";
import { can } from "../../session/session.ts";

type Listed<Item> = { readonly items: readonly Item[]; readonly has_more: boolean };
export type Operations = Listed<Models["Operation"]>;

export type AttentionReads = {
  readonly unknown: Read<Operations> | undefined;
  readonly pending: Read<Operations> | undefined;
  readonly reviews: Read<Models["ReviewGroupPage"]> | undefined;
  readonly breaks: Read<Models["BreakPage"]> | undefined;
};

const LIMIT = 100;
const NO_OPERATIONS: Operations = { items: [], has_more: false };

/** What waits for an outcome or for a decision. A member is undefined when the key may not see it. */
export function useAttention(): AttentionReads {
  const seesOperations = can("investors:read", "funds:deposit", "funds:withdraw", "subscriptions:write");
  const seesOps = can("ops");
  const operations = (outcome: "unknown" | "pending") =>
    useRead<Operations>(
      async (client, signal) =>
        seesOperations
          ? client.query("listOperations", { query: { outcome, limit: LIMIT } }, { signal })
          : NO_OPERATIONS,
      { keys: [seesOperations], topics: ["operations", "subscriptions"] },
    );
  const unknown = operations("unknown");
  const pending = operations("pending");
  const reviews = useRead<Models["ReviewGroupPage"] | undefined>(
    async (client, signal) =>
      seesOps ? client.query("listReviewGroups", { query: { limit: LIMIT } }, { signal }) : undefined,
    { keys: [seesOps], topics: ["reviews"] },
  );
  const breaks = useRead<Models["BreakPage"] | undefined>(
    async (client, signal) =>
      seesOps ? client.query("listBreaks", { query: { limit: LIMIT } }, { signal }) : undefined,
    { keys: [seesOps], topics: ["breaks"] },
  );
  return {
    unknown: seesOperations ? unknown : undefined,
    pending: seesOperations ? pending : undefined,
    reviews: seesOps ? (reviews as Read<Models["ReviewGroupPage"]>) : undefined,
    breaks: seesOps ? (breaks as Read<Models["BreakPage"]>) : undefined,
  };
}
