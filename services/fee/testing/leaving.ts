import { expect } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import type { CrystalliseRequest, CrystalliseResponse } from "#proto/pamm/fee/v1/fee.ts";
import { collect } from "../commands/collect.ts";
import { crystallise, prepare } from "../commands/crystallise.ts";
import type { Deps } from "../deps.ts";
import { previewCrystallise } from "../queries/preview-crystallise.ts";
import { aCall, INVESTOR, MASTER } from "./fee.ts";
import { formatCents } from "./worked-example.ts";
import { lastNumberOf } from "./subscription-fake.ts";
import type { World } from "./world.ts";

const WEEK_START = new Date("2026-01-03T00:00:00Z");
/** A caller that waits only briefly. */
const SHORT_MS = 2_000;

/** The request that the subscription service sends for a withdrawal after the last entry of the allocations. */
export function aLeave(world: World, parts: Partial<CrystalliseRequest> = {}): CrystalliseRequest {
  const masterLogin = parts.masterLogin ?? MASTER;
  return {
    key: "funding:withdrawal:1",
    investorLogin: INVESTOR,
    masterLogin,
    subscriptionId: 1n,
    throughNumber: masterLogin === "" ? 0n : lastNumberOf(world.subscriptions, masterLogin),
    periodStart: WEEK_START,
    at: world.clock.now,
    suffix: "WD1",
    ...parts,
  };
}

export type FormattedAnswer = { pending: string; items: [key: string, amount: string, isWeekly: boolean][] };

/** Every decision is previewed first, and has to be what the preview says. */
export async function decideLeave(world: World, parts: Partial<CrystalliseRequest> = {}): Promise<FormattedAnswer> {
  const request = aLeave(world, parts);
  const isNew = !world.subscriptions.leaves.has(request.key);
  const previewed = isNew ? await previewLeave(world, request) : undefined;
  const answer = formatAnswer(await crystallise(world.deps, request, aCall()));
  if (previewed !== undefined) expect(withoutKeys(previewed)).toEqual(withoutKeys(answer));
  world.subscriptions.leaves.set(request.key, request);
  return answer;
}

/** As subscription does: fee prepares first. Undefined when a decision is refused now. */
async function previewLeave({ deps }: World, request: CrystalliseRequest): Promise<FormattedAnswer | undefined> {
  try {
    if (request.masterLogin !== "") await prepare(deps, request, aCall());
    return formatAnswer(await previewCrystallise(deps, request, aCall()));
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** A payment that is not recorded yet has no key. */
function withoutKeys({ pending, items }: FormattedAnswer) {
  return { pending, items: items.map(([key, amount, isWeekly]) => (isWeekly ? [key, amount] : amount)) };
}

/** Collects under the account lock, as the caller does; returns the collected amount. */
export async function collectAll(
  world: World,
  key = "funding:withdrawal:1",
  deps: Deps = world.deps,
  withinMs = SHORT_MS,
): Promise<string> {
  const lockOwner = `${key}:1`;
  world.platform.accountLocks.set(INVESTOR, lockOwner);
  const { collected } = await collect(deps, { key, lockOwner }, aCall("", withinMs));
  world.platform.accountLocks.delete(INVESTOR);
  return formatCents(collected?.minorUnits ?? 0n);
}

function formatAnswer({ pending, items }: CrystalliseResponse): FormattedAnswer {
  return {
    pending: formatCents(pending?.minorUnits ?? 0n),
    items: items.map(({ key, amount, isWeekly }) => [key, formatCents(amount?.minorUnits ?? 0n), isWeekly]),
  };
}
