import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { reasonOf } from "#kernel/retry.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferAnswer, type TransferRequest, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { postingKey } from "../../domain/posting.ts";
import {
  disownPosting,
  lockPostingOf,
  type Posting,
  refusePosting,
  retryPostings,
  type Waiting,
} from "../../store/postings.ts";
import { tryToCatchUp } from "../filing/catch-up.ts";
import { queuedTransfer, stateText } from "../../messages/transfer.ts";

const NO_ANSWER = { state: "waits", reason: "no answer" } as const;

/**
 * The outcome of a posting; "waits" while it is not known, with the reason. "taken": its key belongs to another transfer, whose record this
 * service has lost, so nothing was executed for it and the amount goes into the next one.
 */
export type Posted = { readonly state: "applied" | "refused" | "taken" | "waits"; readonly reason: string };

/**
 * Requests postings from platform, or reads their outcome: a key is executed once. A result counts as posted only when the
 * log of the Investor shows it. Returns the outcomes in the order of the postings.
 */
export async function sendPostings(
  deps: Deps,
  postings: readonly Posting[],
  { lockOwner }: { readonly lockOwner: string },
  context: CallContext,
): Promise<Posted[]> {
  const posted = await requestPostings(deps, postings, lockOwner, context);
  const waiting: Waiting[] = [];
  for (const [index, posting] of postings.entries()) {
    const { state, reason } = posted[index] ?? NO_ANSWER;
    if (state === "refused" || state === "taken") await refuse(deps, posting, { state, reason });
    // When the feed is late, the log has the entry already. Until its claim ends nothing else is to be done for it.
    if (state === "applied" && posting.tries > 1) await tryToCatchUp(deps, posting.investorLogin, context);
    if (state === "waits") waiting.push({ posting, reason });
  }
  if (waiting.length > 0) await inTransaction(deps.pool, (tx) => retryPostings(tx, waiting));
  return posted;
}

async function requestPostings(
  { platform, log }: Deps,
  postings: readonly Posting[],
  lockOwner: string,
  context: CallContext,
): Promise<Posted[]> {
  try {
    const requests = postings.map((posting) => requestOf(posting, lockOwner));
    const { answers } = await platform.transferBatch({ requests }, context);
    return answers.map(postedOf);
  } catch (error) {
    log.info("postings not answered, retry scheduled", { count: postings.length, error });
    return postings.map(() => ({ state: "waits", reason: reasonOf(error) }));
  }
}

/** A loss debits at most the balance: platform limits it to the floor 0.00, and the rest is netted with later results. */
function requestOf(posting: Posting, lockOwner: string): TransferRequest {
  const { investorLogin: login, number, amount, filedNumber } = posting;
  const leg = { login, kind: MovementKind.RESULT, amount: moneyToProto(usd(amount)) };
  const upTo = amount < 0n ? { floor: moneyToProto(usd(0n)) } : undefined;
  return {
    ...queuedTransfer({ key: postingKey({ login, number }), leg, filedNumber }),
    lockOwner,
    upTo,
    enqueue: false,
  };
}

function postedOf({ answer }: TransferAnswer): Posted {
  if (answer?.$case !== "result") {
    const reason = answer?.value.code ?? NO_ANSWER.reason;
    return { state: reason === "transfer_mismatch" ? "taken" : "waits", reason };
  }
  const { value: result } = answer;
  const reason = stateText(result);
  if (result.state === TransferState.REFUSED) return { state: "refused", reason };
  return { state: result.state === TransferState.APPLIED ? "applied" : "waits", reason };
}

async function refuse(deps: Deps, posting: Posting, { state, reason }: Posted): Promise<void> {
  const { investorLogin: login, number } = posting;
  deps.log.warn("posting refused, amount added to the next posting", {
    key: postingKey({ login, number }),
    login,
    reason,
  });
  await inTransaction(deps.pool, async (tx) => {
    await lockPostingOf(tx, login);
    if ((await refusePosting(tx, posting, reason)) && state === "taken") await disownPosting(tx, { login, number });
  });
}
