import { one, sql } from "#kernel/postgres/query.ts";
import { refuse } from "../refusals.ts";
import type { CollectRequest, RecordFeesResponse } from "#proto/pamm/fee/v1/fee.ts";
import { collect } from "../commands/collect.ts";
import { recordFees } from "../commands/record-fees.ts";
import type { Deps } from "../deps.ts";
import { decideWeeks, type Leave, recordDecisions, requestOf } from "./deciding.ts";
import { aCall, INVESTOR, MASTER } from "./fee.ts";
import { formatCents } from "./cents.ts";
import { NEWEST } from "./subscription-fake.ts";
import type { World } from "./world.ts";

const WEEK_START = new Date("2026-01-03T00:00:00Z");
/** A caller that waits only briefly. */
const SHORT_MS = 2_000;

/** A withdrawal from the pool. */
export function aLeave(parts: Partial<Leave> = {}): Leave {
  return {
    key: "withdrawal:1",
    investorLogin: INVESTOR,
    masterLogin: MASTER,
    periodStart: WEEK_START,
    suffix: "WD1",
    ...parts,
  };
}

export type FormattedAnswer = { pending: string; items: [key: string, amount: string, isWeekly: boolean][] };

/** Decides a leave as subscription does, and has fee record it. Closed weeks are decided first. */
export async function decideLeave(
  world: World,
  parts: Partial<Leave> = {},
  deps: Deps = world.deps,
): Promise<FormattedAnswer> {
  await decideWeeks(world, deps);
  const request = await requestOf(world, deps, aLeave(parts));
  if (request === undefined) throw refuse("safety_stop", "The fees of the Master are stopped.");
  const answer = await recordFees(deps, request, aCall());
  await recordDecisions(world, deps);
  return formatAnswer(answer);
}

/** The request of a caller with the account lock, and what must stay on the account. */
export function aCollection(
  { subscriptions: { floors, filedNumbers } }: Pick<World, "subscriptions">,
  own: Pick<CollectRequest, "key" | "lockOwner">,
): CollectRequest {
  const floor = { currencyCode: "USD", minorUnits: floors.get(INVESTOR) ?? 0n };
  return { ...own, decision: undefined, floor, filedNumber: filedNumbers.get(INVESTOR) ?? NEWEST };
}

/** Collects under the account lock, as the caller does, and has the reserves of what is not collected returned; returns the debited amount. */
export async function collectAll(
  world: World,
  key = "withdrawal:1",
  deps: Deps = world.deps,
  withinMs = SHORT_MS,
): Promise<string> {
  const lockOwner = `${key}:1`;
  world.platform.accountLocks.set(INVESTOR, lockOwner);
  const { uncollectedKeys } = await collect(deps, aCollection(world, { key, lockOwner }), aCall("", withinMs));
  world.platform.accountLocks.delete(INVESTOR);
  for (const uncollected of uncollectedKeys) await deps.subscriptions.returnReserve({ key: uncollected }, aCall());
  const { debited } = await one<{ debited: bigint }>(
    world.deps.pool,
    sql`select coalesce(sum(fee_payment.amount_minor), 0)::bigint as debited
        from collection_item join fee_payment on fee_payment.id = payment_id
        where collection_item.key = ${key}`,
  );
  return formatCents(debited);
}

/** What is pending is without the weekly fees. */
function formatAnswer({ items }: RecordFeesResponse): FormattedAnswer {
  const pending = items.reduce((sum, { amount, isWeekly }) => (isWeekly ? sum : sum + (amount?.minorUnits ?? 0n)), 0n);
  return {
    pending: formatCents(pending),
    items: items.map(({ key, amount, isWeekly }) => [key, formatCents(amount?.minorUnits ?? 0n), isWeekly]),
  };
}
