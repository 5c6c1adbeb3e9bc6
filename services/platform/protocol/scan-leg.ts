import type { Deps } from "../deps.ts";
import type { LegEvent } from "../domain/leg.ts";
import { accepts } from "../domain/leg-machine.ts";
import { type Deal, effectOf, isBalanceOperation } from "../mt5/deals.ts";
import { Mt5Error, type Mt5Problem } from "../mt5/errors.ts";
import { findAttempt, insertScan, listScans, type RecordedAttempt } from "../store/attempts.ts";
import { readWatchedClock } from "./watch-clock.ts";
import { isExplained, listDealRecords } from "../store/deal-records.ts";
import { findLeg } from "../store/legs.ts";
import { setNextScan } from "../store/leg-transitions.ts";
import { hasMisplacedDeal } from "../store/reviews.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { decideAbsence, type LostAttempt, mayStillArrive } from "../domain/absence.ts";
import { type EvidenceDeal, judgeDeals, type Verdict } from "../domain/evidence.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { recordNow } from "./record-now.ts";
import { CLOCK_WINDOW_MS } from "../mt5/server-clock.ts";

type Lost = { readonly leg: RecordedLeg; readonly attempt: RecordedAttempt };

/** An attempt of unknown outcome, as operators find it who decide that it moved no money. */
export type Unscannable = {
  readonly attempt: number;
  readonly doubt?: /** The platform may still execute the command. */
    | "may_still_arrive"
    /** The history can be read: the scans decide soon. */
    | "is_scanned"
    | undefined;
};

/** Scans for an attempt with a lost answer: finds its deal, proves its absence, or schedules the next scan. */
export async function scanLeg(deps: Deps, number: LegNumber): Promise<void> {
  const lost = await findLost(deps, number);
  if (lost === undefined) return;
  // The permit was granted by the clock of the database, and its quiet period ends by the same one.
  const startedAtMs = await readWatchedClock(deps);
  const found = await readEvidence(deps, lost, startedAtMs);
  if (found !== undefined && (await isDecidedBy(deps, lost, found, startedAtMs))) return;
  await decide(deps, lost, startedAtMs);
}

/**
 * Reads what keeps operators from deciding about a leg of unknown outcome: nothing when the platform answers, but shows the history
 * in a form that no scan can read. Throws when the platform does not answer, because then operators cannot see the history either.
 * Undefined when the outcome is known.
 */
export async function readUnscannable(deps: Deps, number: LegNumber): Promise<Unscannable | undefined> {
  const lost = await findLost(deps, number);
  if (lost === undefined) return undefined;
  const { number: attempt } = lost.attempt;
  const nowMs = await readWatchedClock(deps);
  if (mayStillArrive({ ...knownOf(deps, lost), scans: [] }, deps.settings, nowMs)) {
    return { attempt, doubt: "may_still_arrive" };
  }
  try {
    await readDealsSince(deps, lost, nowMs);
    return { attempt, doubt: "is_scanned" };
  } catch (error) {
    if (!(error instanceof Mt5Error) || !UNREADABLE.has(error.problem)) throw error;
  }
  await deps.mt5.getUsers([lost.leg.login]);
  return { attempt };
}

async function findLost({ pool }: Deps, number: LegNumber): Promise<Lost | undefined> {
  const leg = await findLeg(pool, number);
  if (leg === undefined || !accepts(leg.status, "proven_absent")) return undefined;
  const attempt = await findAttempt(pool, number, leg.status.attempt);
  if (attempt === undefined) throw new Error(`leg ${number} is UNKNOWN without an attempt`);
  return { leg, attempt };
}

/** The platform answered, but what it shows is not in a documented form or contradicts itself. */
const UNREADABLE: ReadonlySet<Mt5Problem> = new Set(["bad_answer", "incomplete"]);

type Evidence = { readonly verdict: Verdict; readonly deals: readonly Deal[] };

/** Undefined when the history could not be read completely: such a read proves nothing. */
async function readEvidence(deps: Deps, { leg, attempt }: Lost, startedAtMs: number): Promise<Evidence | undefined> {
  const { login, number, amountMinor, status } = leg;
  try {
    const deals = await readDealsSince(deps, { leg, attempt }, startedAtMs);
    const tickets = deals.map(({ ticket }) => ticket);
    const records = await listDealRecords(deps.pool, deps.settings.server, tickets);
    const reference = { kind: status.kind, number, attempt: status.attempt };
    const expected = { reference, login, amountMinor, permittedAtMs: attempt.grantedAt.getTime() };
    const verdict = judgeDeals(expected, deals.map(evidenceOf), (ticket) => isExplained(records.get(ticket), login));
    return { verdict, deals };
  } catch (error) {
    if (error instanceof Mt5Error) return undefined;
    throw error;
  }
}

/** The history of the login in which a deal of the attempt has to be. */
function readDealsSince({ mt5 }: Deps, { leg, attempt }: Lost, startedAtMs: number): Promise<readonly Deal[]> {
  return mt5.readDeals(leg.login, {
    from: new Date(attempt.grantedAt.getTime() - CLOCK_WINDOW_MS),
    to: new Date(Math.max(startedAtMs, attempt.permitExpiresAt.getTime()) + CLOCK_WINDOW_MS),
  });
}

/** A deal with the reference decides the outcome; a scan without such a deal is only recorded. */
async function isDecidedBy(
  deps: Deps,
  lost: Lost,
  { verdict, deals }: Evidence,
  startedAtMs: number,
): Promise<boolean> {
  const { leg } = lost;
  const { attempt } = leg.status;
  switch (verdict.kind) {
    case "hit": {
      const at = deals.find(({ ticket }) => ticket === verdict.ticket)?.at;
      const event = { type: "applied", attempt, ticket: verdict.ticket } as const;
      const { awaitsReader } = await recordNow(deps, leg, event, { at });
      if (awaitsReader) deps.freshDeals.add(leg.login);
      return true;
    }
    case "mismatch":
      await recordNow(deps, leg, { type: "does_not_fit", reason: verdict.reason });
      return true;
    case "clean":
    case "candidates": {
      const tickets = verdict.kind === "candidates" ? verdict.tickets : [];
      await insertScan(deps.pool, leg.number, attempt, { startedAtMs, verdict: verdict.kind, tickets });
      return false;
    }
  }
}

async function decide(deps: Deps, { leg, attempt }: Lost, startedAtMs: number): Promise<void> {
  const { number, status } = leg;
  const nowMs = await readWatchedClock(deps);
  const scans = await listScans(deps.pool, number, status.attempt);
  const known = { ...knownOf(deps, { leg, attempt }), lastScanStartedAtMs: startedAtMs, scans };
  const decision = decideAbsence(known, deps.settings, nowMs);
  switch (decision.kind) {
    case "absent":
      await recordNow(deps, leg, await absenceOf(deps, { leg, attempt }));
      deps.legsSignal.notify();
      return;
    case "review":
      await recordNow(deps, leg, { type: "does_not_fit", reason: decision.reason });
      return;
    case "scan":
      await setNextScan(deps.pool, number, new Date(decision.atMs));
  }
}

function knownOf({ settings, sender }: Deps, { leg, attempt }: Lost): Omit<LostAttempt, "scans"> {
  return {
    lostAtMs: leg.changedAt.getTime(),
    permitExpiresAtMs: attempt.permitExpiresAt.getTime(),
    commandTimeoutMs: settings.commandTimeoutMs,
    isFenced: attempt.isFenced,
    senderHeartbeatAtMs: attempt.senderHeartbeatAt.getTime(),
    watchedSinceMs: sender.clock.steadySinceMs,
  };
}

/**
 * The login shows no deal. But a deal with the reference on another login, or an answer with a ticket, means that money may
 * have moved: such a leg needs manual review.
 */
async function absenceOf({ pool }: Deps, { leg, attempt }: Lost): Promise<LegEvent> {
  const { number, status } = leg;
  if (await hasMisplacedDeal(pool, number)) return { type: "does_not_fit", reason: "candidate_deal" };
  if (attempt.hasUnconfirmedTicket) return { type: "does_not_fit", reason: "reported_deal_not_shown" };
  return { type: "proven_absent", attempt: status.attempt };
}

function evidenceOf(deal: Deal): EvidenceDeal {
  const { ticket, login, comment, at } = deal;
  return {
    ticket,
    login,
    amountMinor: effectOf(deal),
    isBalanceOperation: isBalanceOperation(deal),
    comment,
    atMs: at.getTime(),
  };
}
