import type { CallContext } from "#kernel/contract/contract.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { waitsAfter } from "#kernel/queue-until-flat.ts";
import type { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { MAX_WAITING_OF_INVESTOR, tooManyQueued } from "../../domain/queue.ts";
import { outcomeUnknown } from "../../domain/transfer-outcome.ts";
import type { Saga } from "../../domain/withdrawal.ts";
import { markWaiting } from "../../store/queued-withdrawals.ts";
import { getSaga } from "../../store/withdrawals.ts";
import { refuseSaga, releaseLock } from "./end-saga.ts";

/**
 * A try was refused before money moved: the saga ends with the refusal, or waits until the Master is flat, if its caller has allowed that and the
 * refusal may pass. An operation that waits has no account lock, so it is released before; a try whose lock is not certainly released is continued by the recovery job.
 */
export async function endOrWait(deps: Deps, saga: Saga, refusal: Refusal, context: CallContext): Promise<Saga> {
  const { id, login, operationId, state, queue } = saga.cashflow;
  if (!waitsAfter(queue?.state, refusal)) return await refuseSaga(deps, saga, refusal, context);
  if (!(await releaseLock(deps, saga, context))) throw outcomeUnknown(operationId);
  failpoint("before_waiting", "withdraw");
  const max = queue?.state === "WANTED" ? MAX_WAITING_OF_INVESTOR : undefined;
  const end = await inTransaction(deps.pool, (tx) =>
    markWaiting(tx, { id, login, try: saga.withdrawal.try, from: state, reason: refusal.code, max }),
  );
  failpoint("after_waiting", "withdraw");
  if (end === "full") return await refuseSaga(deps, saga, tooManyQueued(), context);
  if (end === "waiting") deps.queueWake.notify();
  return await getSaga(deps.pool, id);
}
