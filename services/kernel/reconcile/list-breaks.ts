import type { Break, Check, ListBreaksRequest, ListBreaksResponse } from "#proto/pamm/common/v1/reconciliation.ts";
import { usdToProto } from "../contract/money.ts";
import { pageSize } from "../values/page.ts";
import type { Pool } from "../postgres/pool.ts";
import { type CheckState, listChecks, listOpenBreaks, type OpenBreak } from "./store.ts";

/** A page with more evidence than this ends early: it has to fit into one message of the broker. */
const MAX_PAGE_CHARACTERS = 400_000;

/** The rpc of every service that has checks. */
export async function listBreaks(pool: Pool, request: ListBreaksRequest): Promise<ListBreaksResponse> {
  const { afterId, limit, withoutChecks, about } = request;
  const size = pageSize(limit);
  const found = await listOpenBreaks(pool, { afterId, about, limit: size + 1 });
  const checks = withoutChecks ? [] : await listChecks(pool);
  const items = fitting(found.slice(0, size).map(breakMessage));
  return { items, hasMore: found.length > items.length, checks: checks.map(checkMessage) };
}

/** At least one, so that the listing always advances. */
function fitting(items: readonly Break[]): Break[] {
  let characters = 0;
  const end = items.findIndex(({ evidence, message }) => {
    characters += evidence.length + message.length;
    return characters > MAX_PAGE_CHARACTERS;
  });
  return end === -1 ? [...items] : items.slice(0, Math.max(end, 1));
}

function breakMessage({ atRiskMinor, operationIds, dealIds, evidence, ...found }: OpenBreak): Break {
  return {
    ...found,
    atRisk: usdToProto(atRiskMinor),
    operationIds: [...operationIds],
    dealIds: [...dealIds],
    evidence: JSON.stringify(evidence),
  };
}

function checkMessage({ name, title, everyMs, completedAt, isStale, error, openBreaks }: CheckState): Check {
  return { name, title, everyMs, completedAt: completedAt ?? undefined, stale: isStale, error, openBreaks };
}
