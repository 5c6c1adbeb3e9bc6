import type { Deps } from "../deps.ts";
import type { LegEvent } from "../domain/leg.ts";
import { accepts } from "../domain/leg-machine.ts";
import { type Deal, DEAL_ACTION } from "../mt5/deals.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { findAttempt, insertScan, listScans, type RecordedAttempt } from "../store/attempts.ts";
import { readWatchedClock } from "./watch-clock.ts";
import { listExplainedDealsOf } from "../store/explained-deals.ts";
import { findLeg } from "../store/legs.ts";
import { setNextScan } from "../store/leg-transitions.ts";
import { hasMisplacedDeal } from "../store/reviews.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { decideAbsence } from "../domain/absence.ts";
import { type EvidenceDeal, judgeDeals, type Verdict } from "../domain/evidence.ts";
import { effectOf } from "./history/explain-deal.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { recordNow } from "./record-now.ts";
import { CLOCK_WINDOW_MS } from "../mt5/server-clock.ts";

type Lost = { readonly leg: RecordedLeg; readonly attempt: RecordedAttempt };

/** Scans for an attempt with a lost answer: finds its deal, proves its absence, or schedules the next scan. */
export async function scanLeg(deps: Deps, number: LegNumber): Promise<void> {
  const leg = await findLeg(deps.pool, number);
  if (leg === undefined || !accepts(leg.status, "proven_absent")) return;
  const attempt = await findAttempt(deps.pool, number, leg.status.attempt);
  if (attempt === undefined) throw new Error(`leg ${number} is UNKNOWN without an attempt`);
  const lost: Lost = { leg, attempt };
  // The permit was granted by the clock of the database, and its quiet period ends by the same one.
  const startedAtMs = await readWatchedClock(deps);
  const found = await readEvidence(deps, lost, startedAtMs);
  if (found !== undefined && (await isDecidedBy(deps, lost, found, startedAtMs))) return;
  await decide(deps, lost, startedAtMs);
}

type Evidence = { readonly verdict: Verdict; readonly deals: readonly Deal[] };

/** Undefined when the history could not be read completely: such a read proves nothing. */
async function readEvidence(deps: Deps, { leg, attempt }: Lost, startedAtMs: number): Promise<Evidence | undefined> {
  const { login, number, amountMinor, status } = leg;
  const period = {
    from: new Date(attempt.grantedAt.getTime() - CLOCK_WINDOW_MS),
    to: new Date(Math.max(startedAtMs, attempt.permitExpiresAt.getTime()) + CLOCK_WINDOW_MS),
  };
  try {
    const deals = await deps.mt5.readDeals(login, period);
    const tickets = deals.map(({ ticket }) => ticket);
    const explained = await listExplainedDealsOf(deps.pool, deps.settings.server, login, tickets);
    const reference = { kind: status.kind, number, attempt: status.attempt };
    const expected = { reference, login, amountMinor, permittedAtMs: attempt.grantedAt.getTime() };
    const verdict = judgeDeals(expected, deals.map(evidenceOf), (ticket) => explained.has(ticket));
    return { verdict, deals };
  } catch (error) {
    if (error instanceof Mt5Error) return undefined;
    throw error;
  }
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
  const decision = decideAbsence(
    {
      lostAtMs: leg.changedAt.getTime(),
      lastScanStartedAtMs: startedAtMs,
      permitExpiresAtMs: attempt.permitExpiresAt.getTime(),
      commandTimeoutMs: deps.settings.commandTimeoutMs,
      isFenced: attempt.isFenced,
      senderHeartbeatAtMs: attempt.senderHeartbeatAt.getTime(),
      watchedSinceMs: deps.sender.clock.steadySinceMs,
      scans: await listScans(deps.pool, number, status.attempt),
    },
    deps.settings,
    nowMs,
  );
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
  const { ticket, login, comment, action, at } = deal;
  return {
    ticket,
    login,
    amountMinor: effectOf(deal),
    isBalanceOperation: action === DEAL_ACTION.balance,
    comment,
    atMs: at.getTime(),
  };
}
