import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { dealLookMs, shownWithinMs } from "../domain/deal-looks.ts";
import type { Deal } from "../mt5/deals.ts";
import { readClock } from "../store/clock.ts";
import { type DueLook, putOffLook, saveLook } from "../store/deal-looks.ts";
import { effectOf, isBalanceOperation } from "../protocol/history/explain-deal.ts";
import { formatReference, readReference } from "../domain/reference.ts";
import { reportFinding } from "../protocol/reviews/report-finding.ts";
import { reportAmendments } from "./report-amendments.ts";

/** Times of the platform and of our clock may differ by this much; who is not found so is asked for by ticket. */
const EDGE_MS = 120_000;
/** Clocks, zones and changes of clocks may hide a deal from a narrow window. */
const WINDOW_MS = 24 * 3_600_000;
/** An account that the platform does not show is asked about again then. */
const NOT_SHOWN_PAUSE_MS = 60_000;

/** Looks for the deals of operations that were applied about the same time: by ticket and by reference. */
export async function verifyDeals(deps: Deps, due: readonly DueLook[]): Promise<void> {
  const times = due.map(({ appliedAt }) => appliedAt.getTime());
  const period = { from: new Date(Math.min(...times) - EDGE_MS), to: new Date(Math.max(...times) + EDGE_MS) };
  const deals = await deps.mt5.findDeals([...new Set(due.map(({ login }) => login))], period);
  const shown = new Map(deals.map((deal) => [deal.ticket, deal]));
  for (const look of due) {
    try {
      await verify(deps, look, shown.get(look.ticket) ?? (await deps.mt5.getDeal(look.ticket)));
    } catch (error) {
      // It stays claimed for a while; one that cannot be looked for must not keep the others from it.
      deps.log.error("a deal could not be looked for and is looked for again", {
        id: look.number,
        login: look.login,
        error,
      });
    }
  }
}

async function verify(deps: Deps, look: DueLook, shown: Deal | undefined): Promise<void> {
  if (shown === undefined) return await afterMissing(deps, look);
  const differences = differencesOf(look, shown);
  if (differences.length === 0) return await found(deps, look);
  // A ticket that was given to another login is no longer the deal of this one.
  const amendment = shown.login === look.login ? "deal_changed" : "deal_gone";
  await tell(deps, look, { shown, amendment, differences });
}

/** Names of what the platform shows otherwise. A comment that was cut or rewritten says nothing; another reference does. */
export function differencesOf({ login, kind, number, attempt, amountMinor }: DueLook, shown: Deal): string[] {
  const reference = readReference(shown.comment);
  const isOther = reference !== undefined && formatReference(reference) !== formatReference({ kind, number, attempt });
  return Object.entries({
    login: shown.login !== login,
    amount: effectOf(shown) !== amountMinor,
    action: !isBalanceOperation(shown),
    reference: isOther,
  }).flatMap(([name, isDifferent]) => (isDifferent ? [name] : []));
}

/** Gone is what a complete reading does not show, once everything that was made must be shown. */
async function afterMissing(deps: Deps, look: DueLook): Promise<void> {
  const { mt5, settings, pool } = deps;
  const { login, appliedAt, ticket } = look;
  const shownBy = new Date(appliedAt.getTime() + shownWithinMs(settings.quietPeriodMs));
  const nowMs = await readClock(pool);
  if (nowMs < shownBy.getTime()) return await putOffLook(pool, look, shownBy);
  const users = await mt5.getUsers([login]);
  if (!users.has(login)) {
    await inTransaction(pool, (tx) => reportFinding(tx, { login, reason: "account_not_shown", evidence: {} }));
    return await putOffLook(pool, look, new Date(nowMs + NOT_SHOWN_PAUSE_MS));
  }
  const to = new Date(Math.max(nowMs, appliedAt.getTime()) + WINDOW_MS);
  const deals = await mt5.readDeals(login, { from: new Date(appliedAt.getTime() - WINDOW_MS), to });
  if (deals.some((deal) => deal.ticket === ticket)) return await found(deps, look);
  await tell(deps, look, { shown: withReference(look, deals), amendment: "deal_gone", differences: [] });
}

/** Another deal under the operation's own reference: it stands in the log as surplus, and a person sees both together. */
function withReference({ kind, number, attempt }: DueLook, deals: readonly Deal[]): Deal | undefined {
  const own = formatReference({ kind, number, attempt });
  return deals.find(({ comment }) => comment.startsWith(own));
}

type Seen = {
  readonly shown: Deal | undefined;
  readonly amendment: "deal_gone" | "deal_changed";
  readonly differences: readonly string[];
};

/** The log and the operation say it together, so that a look which dies before or after leaves nothing half told. */
async function tell(deps: Deps, look: DueLook, seen: Seen): Promise<void> {
  const { login, ticket, appliedAt: at } = look;
  deps.log.error("the deal of an applied operation is not what it was", {
    id: look.number,
    login,
    reason: seen.amendment,
  });
  await reportAmendments(deps, [{ login, ticket, at, told: undefined, ...seen }]);
  await found(deps, look);
}

/** Also what was told needs no telling again: then the operation needs manual review, and this changes nothing. */
async function found({ pool }: Deps, look: DueLook): Promise<void> {
  const nextMs = dealLookMs(look.looks + 1);
  const nextAt = nextMs === undefined ? undefined : new Date(look.appliedAt.getTime() + nextMs);
  await saveLook(pool, look, nextAt);
}
