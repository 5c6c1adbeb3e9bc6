import assert from "node:assert/strict";
import { MAX_AMOUNT } from "#kernel/money.ts";
import { classifyCommandAnswer, type MoneyOutcome } from "./classify.ts";
import { formatMinor } from "./fields.ts";
import type { Exchanged } from "./http/exchanged.ts";
import {
  type HistoryQuestions,
  lookUnderTicket,
  type MissedAnswers,
  showsNothingOf,
  type ToldTickets,
} from "./answer-correlation.ts";
import type { Lease } from "./session/session-pool.ts";

/** What is to be moved, and what has to be known before and after it leaves. */
export type BalanceOrder = {
  readonly login: string;
  /** Signed change of the balance, not the new one. */
  readonly amountMinor: bigint;
  /** At most 31 characters; the platform cuts the rest without a word. */
  readonly comment: string;
  /** Whether a debit above the free margin is refused. */
  readonly checkMargin: boolean;
  /** Somebody is told the ticket, so what stands under it is looked at first. */
  readonly isTold?: boolean;
  /** Asked once, right before the bytes leave; false means that none does. */
  readonly mayWrite: () => boolean;
  /** The bytes have left, and no answer is there yet. */
  readonly onWritten?: () => void;
};

const MAX_COMMENT_LENGTH = 31;
const BALANCE_TYPE = "2";
/** Printable ASCII without what any way to the platform could misread. */
const SAFE_COMMENT = /^[A-Za-z0-9 _.:#@!-]*$/;

/** What there is to know about the answers of one platform before one of them is believed. */
export type Answers = {
  readonly told: ToldTickets;
  readonly missed: MissedAnswers;
  /** On this session, or on any when it has ended. */
  readonly history: (lease: Lease | undefined) => HistoryQuestions;
};

/**
 * Moves money: written at most once, whatever happens, and the outcome says what is known of it. A POST with everything
 * in the query, so that nothing between us and the platform counts it as safe to repeat.
 */
export async function changeBalance(lease: Lease, order: BalanceOrder, answers: Answers): Promise<MoneyOutcome> {
  const { login, amountMinor, comment, checkMargin, mayWrite, onWritten } = order;
  const size = amountMinor < 0n ? -amountMinor : amountMinor;
  assert(size > 0n && size <= MAX_AMOUNT.minor, "the amount is zero or above the platform's limit");
  assert(comment.length <= MAX_COMMENT_LENGTH && SAFE_COMMENT.test(comment), "the platform would change this comment");
  const query = {
    login,
    type: BALANCE_TYPE,
    balance: formatMinor(amountMinor),
    comment,
    check_margin: checkMargin ? "1" : "0",
  };
  const exchanged = await lease.call(
    { method: "POST", path: "trade/balance", query },
    { mayWrite, ...(onWritten && { onWritten }) },
  );
  const outcome = await believed(classifyCommandAnswer(exchanged), { exchanged, lease, order, answers });
  if (outcome.kind === "unknown") {
    answers.missed.tell();
    // What it is waiting for would be read as the answer to whatever comes next.
    lease.reset();
  }
  return outcome;
}

type Circumstances = {
  readonly exchanged: Exchanged;
  readonly lease: Lease;
  readonly order: BalanceOrder;
  readonly answers: Answers;
};

/**
 * HTTP does not say which command an answer belongs to, and one that was sent twice is read as the next command's. So a
 * ticket counts once, and a refusal counts when nothing stands behind it: the true answer may say that it was executed.
 * What somebody is told must not be another's deal, or one of another amount.
 * While an answer is missing that may come in this one's place, the history has to bear it out.
 */
async function believed(outcome: MoneyOutcome, circumstances: Circumstances): Promise<MoneyOutcome> {
  const { exchanged, lease, order, answers } = circumstances;
  const { told, missed } = answers;
  const isLastWord = exchanged.kind === "answered" && !exchanged.answer.keepsAlive;
  const history = answers.history(isLastWord ? undefined : lease);
  switch (outcome.kind) {
    case "applied": {
      if (!told.isFirst(outcome.ticket)) return { kind: "unknown", reason: "contradictory" };
      const mustBeSeen = missed.mayCome();
      if (!mustBeSeen && order.isTold !== true) return outcome;
      const found = await lookUnderTicket(history, order, { ticket: outcome.ticket, mustBeSeen });
      if (found === "another deal") return { kind: "unknown", reason: "contradictory" };
      // A deal may be shown later than its ticket is told: that alone takes nothing from a clear answer.
      return found === "nothing" && mustBeSeen ? { kind: "unknown", reason: "not_shown" } : outcome;
    }
    case "refused": {
      const { code } = outcome;
      if (!isLastWord && !(await lease.isInStep())) return { kind: "unknown", reason: "contradictory", code };
      if (!missed.mayCome() || (await showsNothingOf(history, order))) return outcome;
      return { kind: "unknown", reason: "unconfirmed", code };
    }
    default:
      return outcome;
  }
}
