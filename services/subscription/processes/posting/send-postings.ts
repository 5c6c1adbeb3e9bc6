import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferRequest, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { postingKey } from "../../domain/posting.ts";
import {
  claimPostings,
  lockDuePostings,
  lockPostingOf,
  type Posting,
  refusePosting,
  retryPostings,
  type Waiting,
} from "../../store/postings.ts";
import { findUnsettledDatabase } from "../../store/settled-database.ts";
import { tryToCatchUp } from "../filing/catch-up.ts";
import { queuedTransfer, stateText } from "../../messages/transfer.ts";
import { requestTransfers } from "../request-transfers.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import { jobContext, waitBudget } from "../deadlines.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import type { AccountLock } from "../account-lock.ts";

/** Postings of one run, sent in one call that platform executes as a batch. */
const POSTINGS_PER_RUN = 500;

/** Posts results to Investor accounts: one posting per Investor for all results allocated so far. */
export async function postResults(deps: Deps): Promise<boolean> {
  const claimed = await inTransaction(deps.pool, async (tx) => {
    return await claimPostings(tx, await lockDuePostings(tx, POSTINGS_PER_RUN));
  });
  if (claimed.length === 0) return false;
  failpoint("after_posting");
  await sendPostings(deps, claimed, "", jobContext());
  return claimed.length === POSTINGS_PER_RUN;
}

/** The outcome of a posting; "waits" while it is not known, with the reason. */
type Posted = { readonly state: "applied" | "refused" | "waits"; readonly reason: string };

/**
 * Requests postings from platform, or reads their outcome. A result counts as posted only when the log of the Investor shows it. Returns the
 * outcomes in the order of the postings.
 */
async function sendPostings(
  deps: Deps,
  postings: readonly Posting[],
  lockOwner: string,
  context: CallContext,
): Promise<Posted[]> {
  const requests = postings.map((posting) => requestOf(posting, lockOwner));
  const posted = (await requestTransfers(deps, requests, context)).map(postedOf);
  const waiting: Waiting[] = [];
  for (const [index, posting] of postings.entries()) {
    const each = posted[index];
    if (each === undefined) continue;
    const { state, reason } = each;
    if (state === "refused") await refuse(deps, posting, reason);
    // When the feed is late, the log has the entry already. Until its claim ends nothing else is to be done for it.
    if (state === "applied" && posting.tries > 1) await tryToCatchUp(deps, posting.investorLogin, context);
    if (state === "waits") waiting.push({ posting, reason });
  }
  if (waiting.length > 0) await inTransaction(deps.pool, (tx) => retryPostings(tx, waiting));
  return posted;
}

/** A loss debits at most the balance: platform limits it to the floor 0.00, and the rest is netted with later results. */
function requestOf(posting: Posting, lockOwner: string): TransferRequest {
  const { investorLogin: login, number, amount, generation } = posting;
  const leg = { login, kind: MovementKind.RESULT, amount: moneyToProto(usd(amount)) };
  const upTo = amount < 0n ? { floor: moneyToProto(usd(0n)) } : undefined;
  return {
    ...queuedTransfer({ key: postingKey({ login, number }), leg, generation }),
    lockOwner,
    upTo,
    enqueue: false,
  };
}

function postedOf(answer: TransferResult | string): Posted {
  if (typeof answer === "string") return { state: "waits", reason: answer };
  const reason = stateText(answer);
  if (answer.state === TransferState.REFUSED) return { state: "refused", reason };
  return { state: answer.state === TransferState.APPLIED ? "applied" : "waits", reason };
}

async function refuse(deps: Deps, posting: Posting, reason: string): Promise<void> {
  const { investorLogin: login, number } = posting;
  deps.log.warn("posting refused, amount added to the next posting", {
    key: postingKey({ login, number }),
    login,
    reason,
  });
  await inTransaction(deps.pool, async (tx) => {
    await lockPostingOf(tx, login);
    await refusePosting(tx, posting, reason);
  });
}

/**
 * Nothing waits for such a posting. lock_not_owned: the saga that held the account lock has ended. account_archived: the result is posted when the
 * broker restores the account.
 */
const NOT_WAITED_FOR = new Set(["lock_not_owned", "account_archived"]);

/** Limits the work under one account lock; each posting moves up to 1,000,000,000.00, so one is normally enough. */
const MAX_POSTINGS = 20;
/** Long enough for the trading platform to execute a posting; the rest of the saga needs the remaining wait budget. */
const WAIT_MS = 3_000;

/**
 * Posts the open results of an Investor to its account, under its account lock, before its fees and its payout are taken
 * from there. A finally refused posting does not block them, for example a loss on an account with balance 0.00. False when
 * the outcome of a posting is not known within the wait budget, or when more may be open after the last one.
 */
export async function postUnderLock(
  deps: Deps,
  { login, lockOwner }: AccountLock,
  context: CallContext,
): Promise<boolean> {
  const wait = waitBudget(context, WAIT_MS);
  for (let ended = 0; ended < MAX_POSTINGS;) {
    if ((await deps.accountReads.unposted(login)) === undefined) return true;
    const [posting] = await inTransaction(deps.pool, async (tx) => {
      await lockPostingOf(tx, login);
      return await claimPostings(tx, [login]);
    });
    if (posting === undefined) return (await findUnsettledDatabase(deps.pool)) === undefined;
    const [posted] = await sendPostings(deps, [posting], lockOwner, withReplyReserve(context));
    if (posted?.state !== "applied") deps.wakeSignals.postings.notify();
    if (posted === undefined || posted.state === "refused" || NOT_WAITED_FOR.has(posted.reason)) return true;
    if (posted.state !== "waits") {
      if (posted.state === "applied") await tryToCatchUp(deps, login, withReplyReserve(context));
      ended += 1;
    } else if (wait.isOver()) return false;
    else await wait.pause();
  }
  return false;
}
