import { SECOND_MS } from "#kernel/values/duration.ts";
import type { ServiceName } from "#catalogue/services.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import { UNMATCHED } from "../../domain/review-actions.ts";
import { type GateFacts, lockGate, resumePermits } from "../../store/permit-gate.ts";
import { listRecovered } from "../../store/recovery.ts";
import { listUndecidedSince } from "../../store/reviews.ts";
import { listUnsettled, MAX_BREAKS_COUNTED, type RequiredCheck, type Unsettled } from "../../store/unsettled-checks.ts";

/** Why permits cannot be granted again now. */
export type ResumeBlock = {
  readonly code:
    | "history_not_read"
    | "quiet_period"
    | "owner_not_recovered"
    | "review_open"
    | "check_not_complete"
    | "check_has_breaks";
  readonly detail: string;
};

/**
 * What the platform shows has to equal the logs and the legs before permits are granted again. Breaks of other checks do not count: some of
 * them are closed by a repeated command, which needs a permit.
 */
const REQUIRED_CHECKS: readonly RequiredCheck[] = [
  { name: "deal_matching", needs: "run" },
  { name: "platform_balance", needs: "pass" },
];

/** The services that have to repair their books by what was imported, and to report it, before permits are granted again. */
export const RECOVERY_OWNERS: readonly ServiceName[] = ["subscription", "fee"];

const HISTORY_NOT_READ =
  "The history of the trading platform has not been read completely since the database was restored. Decide when it has.";
const MAX_REVIEWS_SHOWN = 5;
const SEE_BREAKS = " Read GET /api/v1/ops/breaks, and decide when both checks are complete and have no break.";

/** Grants permits again, unless money could be moved twice: throws everything that is open, and where to look. */
export async function resumeAll(tx: Transaction, quietPeriodMs: number): Promise<void> {
  const blocks = await listResumeBlocks(tx, await lockGate(tx, quietPeriodMs), quietPeriodMs);
  if (blocks.length === 0) return await resumePermits(tx);
  const where = blocks.some(({ code }) => code.startsWith("check_")) ? SEE_BREAKS : "";
  throw actionNotPossible(blocks.map(({ detail }) => detail).join(" ") + where);
}

/** Every reason at once. The checks count from a stop on: without one there is nothing that they have to confirm. */
export async function listResumeBlocks(
  db: Queryable,
  { stoppedAt, isHistoryRead, wasQuiet, generation }: GateFacts,
  quietPeriodMs: number,
): Promise<ResumeBlock[]> {
  const blocks: ResumeBlock[] = [];
  if (!isHistoryRead) blocks.push({ code: "history_not_read", detail: HISTORY_NOT_READ });
  if (stoppedAt === undefined) return blocks;
  if (!wasQuiet) blocks.push({ code: "quiet_period", detail: stoppedTooShort(quietPeriodMs) });
  const recovered = await listRecovered(db, generation);
  const missing = RECOVERY_OWNERS.filter((service) => !recovered.includes(service));
  const reviews = await listUndecidedSince(db, UNMATCHED, stoppedAt, MAX_REVIEWS_SHOWN + 1);
  const unsettled = await listUnsettled(db, REQUIRED_CHECKS, stoppedAt);
  return [
    ...blocks,
    ...missing.map((service): ResumeBlock => ({ code: "owner_not_recovered", detail: notRecovered(service) })),
    ...(reviews.length === 0 ? [] : [{ code: "review_open", detail: undecided(reviews) } as const]),
    ...unsettled.map((check): ResumeBlock => ({
      code: check.breaks > 0 ? "check_has_breaks" : "check_not_complete",
      detail: sentenceOf(check),
    })),
  ];
}

function stoppedTooShort(quietPeriodMs: number): string {
  return `The trading platform may still execute commands that the database has lost. Decide ${quietPeriodMs / SECOND_MS} seconds after the stop.`;
}

function notRecovered(service: ServiceName): string {
  return `The service ${service} has not recorded yet what the trading platform executed in the lost time.`;
}

function undecided(reviews: readonly bigint[]): string {
  const shown = reviews.slice(0, MAX_REVIEWS_SHOWN).map((id) => `platform-${id}`);
  const more = reviews.length > MAX_REVIEWS_SHOWN ? " and more" : "";
  return `Reviews of deals that were found since the stop are not decided: ${shown.join(", ")}${more}.`;
}

function sentenceOf({ name, needs, isRun, breaks, logins }: Unsettled): string {
  const run = needs === "run" ? "run" : "pass through all accounts";
  if (breaks === 0) return `The check ${name} has not completed a ${run} since the stop.`;
  const accounts = logins.length === 0 ? "" : ` (${logins.join(", ")})`;
  const count = breaks > MAX_BREAKS_COUNTED ? `more than ${MAX_BREAKS_COUNTED}` : String(breaks);
  const what = `${count} ${breaks === 1 ? "break" : "breaks"}${accounts}`;
  return isRun
    ? `The check ${name} has ${what}.`
    : `The check ${name} has ${what} and no complete ${run} since the stop.`;
}
