import assert from "node:assert/strict";
import { formatMinor, MAX_AMOUNT } from "#kernel/values/money.ts";
import { classifyCommandAnswer, type MoneyOutcome } from "./classify.ts";
import { DEAL_ACTION } from "./deals.ts";
import { Mt5Error } from "./errors.ts";
import { fieldsOf, requireLogin } from "./fields.ts";
import type { Exchanged } from "./http/http-answer.ts";
import {
  type HistoryReads,
  findDealByTicket,
  hasNoDealWithComment,
  type ReceivedAnswers,
  type TicketLook,
} from "./answer-correlation.ts";
import { findDone, readerOn } from "./reader.ts";
import { RETCODE } from "./retcodes.ts";
import type { Lease } from "./session/session-pool.ts";

/** One balance operation, with callbacks around the moment at which it is written. */
export type BalanceOrder = {
  readonly login: string;
  /** Signed change of the balance, not the new one. */
  readonly amountMinor: bigint;
  /** At most 31 characters; the platform cuts the rest without an error. */
  readonly comment: string;
  /** Whether a debit above the free margin is refused. */
  readonly checkMargin: boolean;
  /** In the platform's reports; `balance` when left out. */
  readonly type?: BalanceType | undefined;
  /** The ticket is shown to a caller, so the deal under it is checked first. */
  readonly isShownToCaller?: boolean;
  /** Called once, right before the bytes are written; false = nothing is written. */
  readonly mayWrite: () => boolean;
  /** Called when the bytes are written and the answer is still outstanding. */
  readonly onWritten?: () => void;
};

/** The types of the platform that change a balance. */
export const BALANCE_TYPES = [DEAL_ACTION.balance, DEAL_ACTION.charge, DEAL_ACTION.correction] as const;
export type BalanceType = (typeof BALANCE_TYPES)[number];

const MAX_COMMENT_LENGTH = 31;
/** Printable ASCII without characters that a proxy or the platform could misread. */
const SAFE_COMMENT = /^[A-Za-z0-9 _.:#@!-]*$/;

/** The state that is needed to decide whether an answer belongs to its command. */
export type Answers = {
  readonly received: ReceivedAnswers;
  readonly lookAtTicket: TicketLook;
  /** Reads on this session, or on any session when this one has ended. */
  readonly history: (lease: Lease | undefined) => HistoryReads;
};

/**
 * Moves money: the command is written at most once, and the outcome states what is known about it. It is a POST with all
 * parameters in the query, because a proxy may repeat a GET.
 */
export async function changeBalance(lease: Lease, order: BalanceOrder, answers: Answers): Promise<MoneyOutcome> {
  const { login, amountMinor, comment, checkMargin, type = DEAL_ACTION.balance, mayWrite, onWritten } = order;
  const size = amountMinor < 0n ? -amountMinor : amountMinor;
  assert(size > 0n && size <= MAX_AMOUNT.minor, "the amount is zero or above the platform's limit");
  assert(comment.length <= MAX_COMMENT_LENGTH && SAFE_COMMENT.test(comment), "the platform would change this comment");
  const uncovered = checkMargin && type === DEAL_ACTION.correction ? await findUncovered(lease, order) : undefined;
  if (uncovered !== undefined) return uncovered;
  const query = {
    login,
    type: String(type),
    // Exactly two digits after the point: the platform requires them.
    balance: formatMinor(amountMinor),
    comment,
    check_margin: checkMargin ? "1" : "0",
  };
  const exchanged = await lease.call(
    { method: "POST", path: "trade/balance", query },
    { mayWrite, ...(onWritten && { onWritten }) },
  );
  const outcome = await verifyOutcome(classifyCommandAnswer(exchanged), { exchanged, lease, order, answers });
  if (outcome.kind === "unknown") {
    answers.received.noteMissing();
    // An answer that arrives later would be read as the answer to the next request.
    lease.reset();
  }
  return outcome;
}

/**
 * The platform never checks the margin of a correction, so it is checked here, right before. Nothing is written when the amount is not
 * free, or when the account cannot be read. An account without a state has no positions.
 */
async function findUncovered(
  lease: Lease,
  { login, amountMinor }: BalanceOrder,
): Promise<Exclude<MoneyOutcome, { kind: "applied" }> | undefined> {
  if (amountMinor > 0n) return undefined;
  try {
    const request = { method: "GET", path: "user/account/get", query: { login } } as const;
    const found = findDone(await readerOn(lease)(request));
    if (found === undefined) return undefined;
    const fields = fieldsOf(found.answer);
    requireLogin(fields, login);
    return -amountMinor > fields.shownMinor("MarginFree") ? { kind: "refused", code: RETCODE.noMoney } : undefined;
  } catch (error) {
    if (error instanceof Mt5Error) return { kind: "not_sent", reason: "margin_unknown" };
    throw error;
  }
}

type AnswerContext = {
  readonly exchanged: Exchanged;
  readonly lease: Lease;
  readonly order: BalanceOrder;
  readonly answers: Answers;
};

/**
 * HTTP does not name the command that an answer belongs to, and a second copy of an answer is read as the answer to the
 * next command. So a ticket counts once, and a refusal counts only when no further answer follows it on the session.
 * A ticket that is shown to a caller must be the deal of this login and amount. While an earlier answer is outstanding
 * that may have arrived in place of this one, the history has to confirm the outcome.
 */
async function verifyOutcome(outcome: MoneyOutcome, context: AnswerContext): Promise<MoneyOutcome> {
  const { exchanged, lease, order, answers } = context;
  const { received, lookAtTicket } = answers;
  const isLastAnswer = exchanged.kind === "answered" && !exchanged.answer.keepsAlive;
  const history = answers.history(isLastAnswer ? undefined : lease);
  switch (outcome.kind) {
    case "applied": {
      if (!received.isFirst(outcome.ticket)) return { kind: "unknown", reason: "contradictory" };
      const mustBeShown = received.mayArrive();
      if (!mustBeShown && order.isShownToCaller !== true) return outcome;
      const look = (ticket: bigint) => lookAtTicket(history, ticket);
      const found = await findDealByTicket(look, order, { ticket: outcome.ticket, mustBeShown });
      if (found === "another deal") return { kind: "unknown", reason: "contradictory" };
      // The platform may show a deal later than it answers the ticket: that alone does not contradict a clear answer.
      return found === "nothing" && mustBeShown ? { kind: "unknown", reason: "not_shown" } : outcome;
    }
    case "refused": {
      const { code } = outcome;
      if (!isLastAnswer && !(await lease.isInSync())) return { kind: "unknown", reason: "contradictory", code };
      if (!received.mayArrive() || (await hasNoDealWithComment(history, order))) return outcome;
      return { kind: "unknown", reason: "unconfirmed", code };
    }
    default:
      return outcome;
  }
}
