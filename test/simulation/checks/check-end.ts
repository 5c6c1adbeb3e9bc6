import type { Database } from "../postgres/database.ts";
import type { Values } from "../postgres/types.ts";
import type { Plan, CommandFault } from "../plan/plan.ts";
import type { ServerDeal, TradeServer } from "../world/trade-server.ts";
import { type Books, isOpen, isUnderWay, type LegRow } from "./books.ts";
import { readSentReference } from "./reference.ts";
import { Violation } from "./violation.ts";
import type { FeesWatch } from "./watch-fees.ts";
import type { PlatformWatch } from "./watch-platform.ts";
import type { PoolsWatch } from "./watch-pools.ts";

/** Attempts after which an internal leg goes to manual review. */
const MAX_ATTEMPTS = 3;

export type End = {
  readonly plan: Plan;
  readonly books: Books;
  readonly server: TradeServer;
  readonly platform: PlatformWatch;
  readonly consumers: ReadonlyMap<string, Database>;
  /** Defined in histories in which Investors follow Masters. */
  readonly pools: PoolsWatch | undefined;
  readonly fees: FeesWatch | undefined;
};

/** Whether no work is left: each leg has ended or is in manual review, and all logs are complete as far as they can be. */
export function isSettled(end: End): boolean {
  const { books, server, consumers } = end;
  if (books.legs().some((leg) => isOpen(leg) && !isBlocked(leg, books))) return false;
  const isAllFiled = server.logins.every((login) => isFiled(login, books, consumers) && isLogged(login, books, server));
  return isAllFiled && arePoolsSettled(end) && areFeesSettled(end) && missingFindings(end).length === 0;
}

/** Whether manual review blocks a leg or a log, so callers that wait behind it get no final answer either. */
export function isAnyBlocked({ books }: End): boolean {
  const isUndecided = ({ login }: LegRow) => books.account(login)?.["undecided_from"] !== null;
  return books.legs().some((leg) => leg.state === "REVIEW" || isUndecided(leg));
}

/** Whether manual review must first decide leg 1 of the same transfer, or another leg in progress on the login. */
function isBlocked(leg: LegRow, books: Books): boolean {
  const { transferId, ordinal, state, login, isExclusive } = leg;
  if (state !== "INTENT") return false;
  const first = books.legsOf(transferId).find((other) => other.ordinal === 1);
  if (ordinal === 2 && first?.state === "REVIEW") return true;
  return isExclusive && books.legsOfLogin(login).some((other) => other.state === "REVIEW" && isUnderWay(other));
}

function arePoolsSettled(end: End): boolean {
  const { pools } = end;
  return pools === undefined || pools.isStopped() || isAnyBlocked(end) || pools.unsettled().length === 0;
}

function areFeesSettled({ fees }: End): boolean {
  return fees === undefined || fees.unsettled().length === 0;
}

/** Deals that are on the books but deleted from the platform, and for which no review was opened. */
function missingFindings({ books, server }: Pick<End, "books" | "server">): readonly ServerDeal[] {
  return server.forgotten.filter(({ login, ticket }) => {
    const isLogged = books.log(login).some((entry) => entry["deal_id"] === ticket);
    const isBooked = isLogged || books.legsOfLogin(login).some(({ dealId }) => dealId === ticket);
    return isBooked && !books.findings().some((finding) => finding["deal_id"] === ticket);
  });
}

/** Whether the log has every deal of the login, or is stopped by a deal that manual review has to decide about. */
function isLogged(login: string, books: Books, server: TradeServer): boolean {
  if (books.account(login)?.["undecided_from"] !== null) return hasReview(login, books);
  const logged = new Set(books.log(login).map((entry) => entry["deal_id"]));
  return server.deals.every((deal) => deal.login !== login || logged.has(deal.ticket));
}

function hasReview(login: string, books: Books): boolean {
  return books.legsOfLogin(login).some(({ state }) => state === "REVIEW");
}

function isFiled(login: string, books: Books, consumers: End["consumers"]): boolean {
  const number = books.account(login)?.["log_number"];
  return [...consumers.values()].every((consumer) => {
    const filed = filedBook(consumer, login);
    return login.startsWith("3") || filed?.["filed_number"] === number;
  });
}

/** The checks that hold only when no work is left. */
export function checkEnd(end: End): void {
  for (const leg of end.books.legs()) checkLeg(end, leg);
  for (const deal of end.server.deals) checkDeal(end, deal);
  for (const transferId of new Set(end.books.legs().map((leg) => leg.transferId))) {
    checkLegs(end, end.books.legsOf(transferId));
  }
  for (const login of end.server.logins) checkLog(end, login);
  if (!arePoolsSettled(end)) {
    throw new Violation("I10", `the pools have work left: ${end.pools?.unsettled().join(", ")}`);
  }
  if (!areFeesSettled(end)) throw new Violation("I10", `fees are not settled: ${end.fees?.unsettled().join(", ")}`);
  const [missing] = missingFindings(end);
  if (missing !== undefined) {
    throw new Violation("I16", `the platform lost deal ${missing.ticket}, and no review was opened`);
  }
}

/** I14, from the books to the platform. */
function checkLeg(end: End, leg: LegRow): void {
  const { platform, books } = end;
  const { state, dealId, number } = leg;
  if (state === "REVIEW") checkReview(end, leg);
  if (isOpen(leg) && !isBlocked(leg, books)) {
    throw new Violation("I10", `leg ${number} is still ${state}`);
  }
  if (state !== "APPLIED") return;
  const deal = platform.deal(dealId ?? 0n);
  const isOwn = readSentReference(deal?.sentComment ?? "")?.number === number;
  if (!isOwn) throw new Violation("I14", `leg ${number} is applied with deal ${dealId}, which is not its own`);
}

/** I10: a leg goes to manual review only when no rule could decide about it. */
function checkReview({ plan, platform, server }: End, { number, review, attempt }: LegRow): void {
  const hasCommandFault = (isMatch: (commandFault: CommandFault) => boolean) =>
    plan.faults.some((fault) => fault.kind === "command" && isMatch(fault.commandFault));
  const isBeyondBounds = platform.dealsOf(number).some((deal) => !platform.isWithinBounds(deal));
  const hasForgotten = server.forgotten.length > 0;
  const reasons: Readonly<Record<string, boolean>> = {
    candidate_deal:
      hasCommandFault(({ comment }) => comment !== "kept") || plan.commands.some(({ kind }) => kind === "dealer"),
    deal_after_absence: isBeyondBounds,
    deal_after_refusal: isBeyondBounds,
    two_deals: isBeyondBounds,
    applied_deal_gone: hasForgotten || isBeyondBounds,
    attempts_exhausted: attempt >= MAX_ATTEMPTS,
  };
  if (reasons[review ?? ""] !== true) {
    throw new Violation("I10", `leg ${number} is in manual review without a cause: ${review}`);
  }
}

/** I14, from the platform to the books. */
function checkDeal({ books }: End, { ticket, sentComment, by, login }: ServerDeal): void {
  const reference = readSentReference(sentComment);
  if (by !== "command" || reference === undefined) return;
  const leg = books.leg(reference.number);
  const isKnown = leg?.dealId === ticket || leg?.state === "REVIEW";
  const hasFinding = books.findings().some((finding) => finding["deal_id"] === ticket);
  if (!isKnown && !hasFinding) {
    throw new Violation("I14", `deal ${ticket} of ${login} belongs to ${leg?.state ?? "no"} leg ${reference.number}`);
  }
}

/** I4: both legs, none of them, or the first and its reversal; anything else is in manual review. */
function checkLegs({ books }: End, legs: readonly LegRow[]): void {
  const [first, second, reversal] = [1, 2, 3].map((ordinal) => legs.find((leg) => leg.ordinal === ordinal)?.state);
  const isInReview = ({ state, number }: LegRow) =>
    state === "REVIEW" || books.findings().some((finding) => finding["leg_number"] === number);
  if (second === undefined || legs.some(isInReview)) return;
  const isWhole = first === "APPLIED" && second === "APPLIED" && reversal === undefined;
  const isNothing = first === "REFUSED" && second === "REFUSED" && reversal === undefined;
  const isUndone = first === "APPLIED" && second === "REFUSED" && reversal === "APPLIED";
  if (!isWhole && !isNothing && !isUndone) {
    throw new Violation("I4", `legs of one transfer ended ${first}, ${second}, ${reversal ?? "no reversal"}`);
  }
}

/** I4 and I9: the log is what the platform shows, and each consumer of the log has the same books. */
function checkLog(end: End, login: string): void {
  const { books, server, consumers } = end;
  const account = books.account(login)!;
  const logged = account["log_minor"] as bigint;
  const isUndecided = account["undecided_from"] !== null;
  const hasForgotten = server.forgotten.some((deal) => deal.login === login);
  // A deal that was shown too late was reported as deleted; `checkReview` decides whether that was justified.
  const isReportedDeleted = books.legsOfLogin(login).some(({ review }) => review === "applied_deal_gone");
  const balance = server.balanceOf(login);
  if (!isUndecided && !hasForgotten && !isReportedDeleted && logged !== balance) {
    throw new Violation("I4", `${login} has ${balance} at the platform and ${logged} in its log`);
  }
  // With pools the money is in many buckets, which `PoolsWatch` checks after each commit.
  if (login.startsWith("3") || end.pools !== undefined) return;
  for (const [name, consumer] of consumers) {
    const filed = filedBook(consumer, login);
    if (filed === undefined || sumOf(filed) !== logged) {
      throw new Violation(
        "I9",
        `the ${name} books of ${login} end with ${filed && sumOf(filed)}, its log with ${logged}`,
      );
    }
  }
}

function filedBook(consumer: Database, login: string): Values | undefined {
  for (const table of ["investor_account", "master_pool"]) {
    for (const { committed } of consumer.rows(table).withValue("login", login)) {
      if (committed !== undefined) return committed;
    }
  }
  return undefined;
}

/** Without subscriptions all money of an Investor is outside pools, and all money of a Master is external or unallocated. */
function sumOf(book: Values): bigint {
  const buckets = ["outside_minor", "quarantined_minor", "external_minor", "unallocated_minor"];
  const total = buckets.reduce((sum, bucket) => sum + ((book[bucket] as bigint | undefined) ?? 0n), 0n);
  // A result that was posted without having been allocated is on the account, but no holding has it.
  return total - ((book["unposted_minor"] as bigint | undefined) ?? 0n);
}
