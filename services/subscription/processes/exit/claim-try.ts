import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { later, RECOVERY_GRACE_MS } from "#kernel/retry.ts";
import type { Deps } from "../../deps.ts";
import { beginTry, type Exit, findExit, type NewTry } from "../../store/exits.ts";
import type { Subscription } from "../../store/subscriptions.ts";
import { lockOfExit } from "./try-to-leave.ts";

/** What the ledger of operations shows of the unassign. */
export type Command = Pick<NewTry, "commandId" | "at" | "deadlineAt">;

/** Records the next try before any other service is called; undefined when another try blocks it. By default its command is that of the caller. */
export async function claimTry(
  deps: Deps,
  subscription: Subscription,
  context: CallContext,
  command: Command = commandOf(deps, context),
): Promise<Exit | undefined> {
  const { id } = subscription;
  const last = await findExit(deps.pool, id);
  const number = (last?.try ?? 0) + 1;
  const { lockOwner } = lockOfExit(subscription, number);
  const { requestId } = context;
  const recoverInMs = remainingMs(context) + RECOVERY_GRACE_MS;
  return await beginTry(deps.pool, { ...command, requestId, subscriptionId: id, try: number, lockOwner, recoverInMs });
}

function commandOf({ now }: Deps, { commandId, deadline }: CallContext): Command {
  return { commandId, at: now(), deadlineAt: later(deadline, RECOVERY_GRACE_MS) };
}
