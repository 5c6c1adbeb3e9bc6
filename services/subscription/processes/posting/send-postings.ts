import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { backOffMs, later, reasonOf } from "#kernel/retry.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferAnswer, type TransferRequest, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { type Delay, type Posting, postponePostings, refusePosting } from "../../store/postings.ts";
import { catchUp } from "../filing/catch-up.ts";
import { describe } from "../../messages/transfer.ts";

/** An account that is busy is asked again soon: a result is to be there within seconds. */
const MAX_PAUSE_MS = 1_000;
const NO_ANSWER = { state: "waits", reason: "no answer" } as const;

/** What platform says of a posting; "waits" with the reason when it says neither. */
export type Posted = { readonly state: "applied" | "refused" | "waits"; readonly reason: string };

/**
 * Asks platform for postings, or what became of them: a key answers the same for ever. That a result has arrived is known
 * from the Investor's log alone. Answers in the order of the postings.
 */
export async function sendPostings(
  deps: Deps,
  postings: readonly Posting[],
  { lockOwner }: { readonly lockOwner: string },
  context: CallContext,
): Promise<Posted[]> {
  const posted = await ask(deps, postings, lockOwner, context);
  const waiting: Delay[] = [];
  for (const [index, posting] of postings.entries()) {
    const { state, reason } = posted[index] ?? NO_ANSWER;
    if (state === "refused") await refuse(deps, posting, reason);
    // The feed brings the entry; should it be late, the log has it already.
    if (state === "applied" && posting.tries > 1) await lookInLog(deps, posting, context);
    if (state !== "refused") waiting.push(delayOf(deps, posting, reason));
  }
  await postponePostings(deps.pool, waiting);
  return posted;
}

async function ask(
  { platform, log }: Deps,
  postings: readonly Posting[],
  lockOwner: string,
  context: CallContext,
): Promise<Posted[]> {
  try {
    const requests = postings.map((posting) => requestOf(posting, lockOwner));
    const { answers } = await platform.transferBatch({ requests }, context);
    return answers.map(read);
  } catch (error) {
    log.warn("postings are asked again later", { count: postings.length, error });
    return postings.map(() => ({ state: "waits", reason: reasonOf(error) }));
  }
}

/** A loss takes an account to zero at most; the platform cuts it there, and the rest is netted with what comes later. */
function requestOf({ key, investorLogin: login, amount }: Posting, lockOwner: string): TransferRequest {
  const leg = { login, kind: MovementKind.RESULT, amount: moneyToProto(usd(amount)) };
  const upTo = amount < 0n ? { floor: moneyToProto(usd(0n)) } : undefined;
  return { key, lockOwner, legs: [leg], upTo, enqueue: false, comment: "", sendBefore: undefined };
}

function read({ answer }: TransferAnswer): Posted {
  if (answer?.$case !== "result") return { state: "waits", reason: answer?.value.code ?? NO_ANSWER.reason };
  const { value: result } = answer;
  const reason = describe(result);
  if (result.state === TransferState.REFUSED) return { state: "refused", reason };
  return { state: result.state === TransferState.APPLIED ? "applied" : "waits", reason };
}

async function refuse(deps: Deps, posting: Posting, reason: string): Promise<void> {
  deps.log.warn("a posting was refused; its amount goes into the next", {
    key: posting.key,
    login: posting.investorLogin,
    reason,
  });
  await inTransaction(deps.pool, async (tx) => {
    const at = deps.now();
    await refusePosting(tx, posting, { reason, at, nextAt: (refusals) => later(at, backOffMs(refusals)) });
  });
}

async function lookInLog(deps: Deps, { investorLogin: login }: Posting, context: CallContext): Promise<void> {
  try {
    await catchUp(deps, { login }, context);
  } catch (error) {
    deps.log.warn("an Investor's log could not be filed", { login, error });
  }
}

function delayOf({ now }: Deps, { id, tries }: Posting, reason: string): Delay {
  return { id, until: later(now(), backOffMs(tries, MAX_PAUSE_MS)), reason };
}
