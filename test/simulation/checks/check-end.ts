import type { Database } from "../postgres/database.ts";
import type { Values } from "../postgres/types.ts";
import type { Plan, CommandFault } from "../plan/plan.ts";
import type { ServerDeal, TradeServer } from "../world/trade-server.ts";
import { type PlatformRows, isOpen, isUnderWay, type LegRow } from "./platform-rows.ts";
import { readSentReference } from "./reference.ts";
import { Violation } from "./violation.ts";
import type { FeesWatch } from "./watch-fees.ts";
import type { DealsWatch } from "./watch-deals.ts";
import type { DeparturesWatch } from "./watch-departures.ts";
import type { RightsWatch } from "./watch-rights.ts";
import { checkTies, type Ties } from "./check-ties.ts";
import type { PoolsWatch } from "./watch-pools.ts";

/** Attempts after which a credit or a reversal goes to manual review. */
const MAX_ATTEMPTS = 31;

export type End = {
  readonly plan: Plan;
  readonly platformRows: PlatformRows;
  readonly server: TradeServer;
  readonly dealsWatch: DealsWatch;
  readonly consumers: ReadonlyMap<string, Database>;
  /** Defined in histories in which Investors follow Masters. */
  readonly pools: PoolsWatch | undefined;
  readonly fees: FeesWatch | undefined;
  readonly departures: DeparturesWatch | undefined;
  readonly rights: RightsWatch | undefined;
  readonly ties: Ties | undefined;
  /** An account that can never be read again: only its own work may be left. */
  readonly unreadable: string | undefined;
};

/** Whether no work is left: each leg has ended or is in manual review, and all logs are complete as far as they can be. */
export function isSettled(end: End): boolean {
  const { platformRows, server, consumers } = end;
  if (readableLegs(end).some((leg) => isOpen(leg) && !isBlocked(leg, platformRows))) return false;
  const isAllFiled = readableLogins(end).every(
    (login) => isFiled(login, platformRows, consumers) && isLogged(login, platformRows, server),
  );
  return (
    isAllFiled &&
    platformRows.isGateOpen() &&
    arePoolsSettled(end) &&
    areFeesSettled(end) &&
    (isAnyBlocked(end) || withWrongRights(end).length === 0) &&
    unreportedLosses(end).length === 0
  );
}

function readableLogins({ server, unreadable }: End): readonly string[] {
  return server.logins.filter((login) => login !== unreadable);
}

/** Legs of transfers that do not concern the account that cannot be read. */
function readableLegs({ platformRows, unreadable }: End): readonly LegRow[] {
  if (unreadable === undefined) return platformRows.legs();
  const blocked = new Set(platformRows.legsOfLogin(unreadable).map(({ transferId }) => transferId));
  return platformRows.legs().filter(({ transferId }) => !blocked.has(transferId));
}

/** Whether manual review blocks a leg or a log: callers that wait for it get no final answer either. */
export function isAnyBlocked(end: End): boolean {
  const { platformRows } = end;
  const isUndecided = ({ login }: LegRow) => platformRows.account(login)?.["undecided_from"] !== null;
  const isChanged = ({ login }: LegRow) => platformRows.changedDeals(login).size > 0;
  return readableLegs(end).some((leg) => leg.state === "REVIEW" || isUndecided(leg) || isChanged(leg));
}

/** Whether manual review must first decide leg 1 of the same transfer, or another leg in progress on the login. */
function isBlocked(leg: LegRow, platformRows: PlatformRows): boolean {
  const { transferId, ordinal, state, login, isExclusive } = leg;
  if (state !== "INTENT") return false;
  const first = platformRows.legsOf(transferId).find((other) => other.ordinal === 1);
  if (ordinal === 2 && first?.state === "REVIEW") return true;
  return isExclusive && platformRows.legsOfLogin(login).some((other) => other.state === "REVIEW" && isUnderWay(other));
}

function arePoolsSettled(end: End): boolean {
  return end.pools?.isStopped() === true || isAnyBlocked(end) || unsettledPools(end).length === 0;
}

function unsettledPools({ pools, departures }: End): readonly string[] {
  return [...(pools?.unsettled() ?? []), ...(departures?.unsettled() ?? [])];
}

function withWrongRights({ rights }: End): readonly string[] {
  return rights?.unsettled() ?? [];
}

function areFeesSettled({ fees }: End): boolean {
  return fees === undefined || fees.unsettled().length === 0;
}

/** Deals that the service recorded and the platform lost afterwards, and that the service does not report for review. */
function unreportedLosses({ platformRows, server, unreadable }: End): readonly ServerDeal[] {
  return server.lostDeals.filter(({ login, ticket }) => {
    if (login === unreadable) return false;
    const isLogged = platformRows.log(login).some((entry) => entry["deal_id"] === ticket);
    const isBooked = isLogged || platformRows.legsOfLogin(login).some(({ dealId }) => dealId === ticket);
    return isBooked && !platformRows.changedDeals(login).has(ticket);
  });
}

/** Whether the log has every deal of the login, or is stopped by a deal that manual review has to decide about. */
function isLogged(login: string, platformRows: PlatformRows, server: TradeServer): boolean {
  if (platformRows.account(login)?.["undecided_from"] !== null) return hasReview(login, platformRows);
  const logged = new Set(platformRows.log(login).map((entry) => entry["deal_id"]));
  return server.deals.every((deal) => deal.login !== login || logged.has(deal.ticket));
}

function hasReview(login: string, platformRows: PlatformRows): boolean {
  return (
    platformRows.legsOfLogin(login).some(({ state }) => state === "REVIEW") || platformRows.changedDeals(login).size > 0
  );
}

function isFiled(login: string, platformRows: PlatformRows, consumers: End["consumers"]): boolean {
  const number = platformRows.account(login)?.["log_number"];
  return [...consumers.values()].every((consumer) => {
    const filed = filedRow(consumer, login);
    return login.startsWith("3") || filed?.["filed_number"] === number;
  });
}

/** The checks that hold only when no work is left. */
export function checkEnd(end: End): void {
  for (const leg of readableLegs(end)) checkLeg(end, leg);
  for (const deal of end.server.deals) if (deal.login !== end.unreadable) checkDeal(end, deal);
  for (const transferId of new Set(readableLegs(end).map((leg) => leg.transferId))) {
    checkLegs(end, end.platformRows.legsOf(transferId));
  }
  for (const login of readableLogins(end)) checkLog(end, login);
  const [wrong] = isAnyBlocked(end) ? [] : withWrongRights(end);
  if (wrong !== undefined) throw new Violation("I20", `the right of ${wrong} to trade is not what it was`);
  if (!arePoolsSettled(end)) {
    throw new Violation("I10", `the pools have work left: ${unsettledPools(end).join(", ")}`);
  }
  if (!end.platformRows.isGateOpen()) throw new Violation("I10", "permits are still stopped");
  if (!areFeesSettled(end)) throw new Violation("I10", `fees are not settled: ${end.fees?.unsettled().join(", ")}`);
  if (end.ties !== undefined && canTie(end)) checkTies(end.ties);
  const [missing] = unreportedLosses(end);
  if (missing !== undefined) {
    throw new Violation("I16", `the platform lost deal ${missing.ticket}, and no review was opened`);
  }
}

/**
 * Without a manual review that holds money back, without deals that the platform lost, and without one that it made after the quiet period: that one is
 * in manual review, beside the deal of the next attempt.
 */
function canTie(end: End): boolean {
  const { pools, server, dealsWatch } = end;
  const isLate = (deal: ServerDeal) => deal.by === "command" && !dealsWatch.isWithinBounds(deal);
  return (
    pools?.isStopped() !== true && !isAnyBlocked(end) && server.lostDeals.length === 0 && !server.deals.some(isLate)
  );
}

/** I14, from the rows of the service to the deals of the platform. */
function checkLeg(end: End, leg: LegRow): void {
  const { dealsWatch, platformRows } = end;
  const { state, dealId, number, login } = leg;
  if (state === "REVIEW") checkReview(end, leg);
  const isChanged = platformRows.changedDeals(login).has(dealId);
  if (isChanged) checkChanged(end, number);
  if (isOpen(leg) && !isBlocked(leg, platformRows)) {
    throw new Violation("I10", `leg ${number} is still ${state}`);
  }
  if (state !== "APPLIED" || isChanged) return;
  const deal = dealsWatch.deal(dealId ?? 0n);
  const isOwn = readSentReference(deal?.sentComment ?? "")?.number === number;
  if (!isOwn) throw new Violation("I14", `leg ${number} is applied with deal ${dealId}, which is not its own`);
}

/** I10: the deal of a leg is reported as changed only when the platform lost deals, or showed it too late. */
function checkChanged({ plan, dealsWatch, server }: End, number: bigint): void {
  const isBeyondBounds = dealsWatch.dealsOf(number).some((deal) => !dealsWatch.isWithinBounds(deal));
  const hasRewound = plan.faults.some(({ kind }) => kind === "rewind_database");
  if (server.lostDeals.length === 0 && !isBeyondBounds && !hasRewound) {
    throw new Violation("I10", `the deal of leg ${number} is reported as changed without a cause`);
  }
}

/** I10: a leg goes to manual review only when no rule could decide about it. */
function checkReview({ plan, dealsWatch, server }: End, { number, review, attempt }: LegRow): void {
  const hasCommandFault = (isMatch: (commandFault: CommandFault) => boolean) =>
    plan.faults.some((fault) => fault.kind === "command" && isMatch(fault.commandFault));
  const isBeyondBounds = dealsWatch.dealsOf(number).some((deal) => !dealsWatch.isWithinBounds(deal));
  const hasLostItsDeal = server.lostDeals.some(({ sentComment }) => readSentReference(sentComment)?.number === number);
  /** For each reason of a review, whether the history has its cause. */
  const causes: Readonly<Record<string, boolean>> = {
    candidate_deal:
      hasCommandFault(({ comment }) => comment !== "kept") || plan.commands.some(({ kind }) => kind === "dealer"),
    // A process that was paused meanwhile records the answer with a deal that no reading shows any more.
    deal_after_absence: isBeyondBounds || hasLostItsDeal,
    deal_after_refusal: isBeyondBounds,
    two_deals: isBeyondBounds,
    attempts_exhausted: attempt >= MAX_ATTEMPTS,
    reported_deal_not_shown: isBeyondBounds || hasLostItsDeal,
  };
  // After lost commits any leg may have a deal that its own records do not explain.
  const hasRewound = plan.faults.some(({ kind }) => kind === "rewind_database");
  if (causes[review ?? ""] !== true && !hasRewound) {
    throw new Violation("I10", `leg ${number} is in manual review without a cause: ${review}`);
  }
}

/** I14, from the deals of the platform to the rows of the service. */
function checkDeal({ platformRows }: End, { ticket, sentComment, by, login }: ServerDeal): void {
  const reference = readSentReference(sentComment);
  if (by !== "command" || reference === undefined) return;
  const leg = platformRows.leg(reference.number);
  const isKnown = leg?.dealId === ticket || leg?.state === "REVIEW";
  const hasFinding = platformRows.findings().some((finding) => finding["deal_id"] === ticket);
  if (!isKnown && !hasFinding) {
    throw new Violation("I14", `deal ${ticket} of ${login} belongs to ${leg?.state ?? "no"} leg ${reference.number}`);
  }
}

/** I4: both legs, none of them, or the first and its reversal; anything else is in manual review. */
function checkLegs({ platformRows }: End, legs: readonly LegRow[]): void {
  const [first, second, reversal] = [1, 2, 3].map((ordinal) => legs.find((leg) => leg.ordinal === ordinal)?.state);
  const isInReview = ({ state, number }: LegRow) =>
    state === "REVIEW" || platformRows.findings().some((finding) => finding["leg_number"] === number);
  if (second === undefined || legs.some(isInReview)) return;
  const isWhole = first === "APPLIED" && second === "APPLIED" && reversal === undefined;
  const isNothing = first === "REFUSED" && second === "REFUSED" && reversal === undefined;
  const isReversed = first === "APPLIED" && second === "REFUSED" && reversal === "APPLIED";
  if (!isWhole && !isNothing && !isReversed) {
    throw new Violation("I4", `legs of one transfer ended ${first}, ${second}, ${reversal ?? "no reversal"}`);
  }
}

/** I4 and I9: the log of a login adds up to its balance at the platform, and each consumer of the log has the same sum. */
function checkLog(end: End, login: string): void {
  const { platformRows, server, consumers } = end;
  const account = platformRows.account(login)!;
  const logged = account["log_minor"] as bigint;
  const isUndecided = account["undecided_from"] !== null;
  const hasLostDeals = server.lostDeals.some((deal) => deal.login === login);
  // A deal that was shown too late was reported as deleted; `checkReview` decides whether the report has a cause.
  const isReportedDeleted = platformRows.changedDeals(login).size > 0;
  const balance = server.balanceOf(login);
  if (!isUndecided && !hasLostDeals && !isReportedDeleted && logged !== balance) {
    throw new Violation("I4", `${login} has ${balance} at the platform and ${logged} in its log`);
  }
  // With pools the money is in many buckets, which `PoolsWatch` checks after each commit.
  if (login.startsWith("3") || end.pools !== undefined) return;
  for (const [name, consumer] of consumers) {
    const filed = filedRow(consumer, login);
    if (filed === undefined || sumOf(filed) !== logged) {
      throw new Violation(
        "I9",
        `the consumer "${name}" has ${filed && sumOf(filed)} for ${login}, and its log has ${logged}`,
      );
    }
  }
}

/** What a consumer has filed of a login: its row as an Investor or as a Master. */
function filedRow(consumer: Database, login: string): Values | undefined {
  for (const table of ["investor_account", "master_pool"]) {
    for (const { committed } of consumer.rows(table).withValue("login", login)) {
      if (committed !== undefined) return committed;
    }
  }
  return undefined;
}

/** Without subscriptions all money of an Investor is outside pools, and all money of a Master is own capital or unallocated. */
function sumOf(row: Values): bigint {
  const imported = ["imported_mirrors_minor", "imported_exits_minor"];
  const buckets = [
    "outside_minor",
    "quarantined_minor",
    "own_waiting_minor",
    "own_pooled_minor",
    "unallocated_minor",
    ...imported,
  ];
  const total = buckets.reduce((sum, bucket) => sum + ((row[bucket] as bigint | undefined) ?? 0n), 0n);
  // A result that was posted without having been allocated is on the account, but no holding has it.
  return total - ((row["unposted_minor"] as bigint | undefined) ?? 0n);
}
