import { labelsFromProto } from "#kernel/contract/labels.ts";
import { labelErrors } from "#kernel/labels.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { queueErrors } from "#kernel/queue-until-flat.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import type { UnassignRequest, UnassignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isLogin, isPresent, validate } from "../domain/validate.ts";
import { finishExit } from "../processes/exit/finish-exit.ts";
import { leaveWhenFree } from "../processes/exit/leave-when-free.ts";
import { labelOperation } from "../processes/label-operation.ts";
import { findExitOfCommand } from "../store/exits.ts";
import { findQueued } from "../store/queued-unassigns.ts";
import { markUnassignmentEnded } from "../store/unassignments.ts";
import { answerAgain, unassignOrWait } from "./unassign-or-wait.ts";

/** Takes an Investor out of the pool. Once decided, the saga is retried until it is finished. */
export async function unassign(deps: Deps, request: UnassignRequest, context: CallContext): Promise<UnassignResponse> {
  validate(
    isLogin("master_login", request.masterLogin),
    isLogin("investor_login", request.investorLogin),
    ...labelErrors(labelsFromProto(request.labels)),
    request.queueForMs === undefined ? undefined : isPresent("command_id", context.commandId),
    ...queueErrors(request.queueForMs),
  );
  await labelOperation(deps, request.labels, context);
  const before = await failAsUnavailable(() => findExitOfCommand(deps.pool, context.commandId));
  if (before !== undefined) return await finishExit(deps, before, context);
  const queued = await failAsUnavailable(() => findQueued(deps.pool, context.commandId));
  const again = queued && (await answerAgain(deps, queued, request));
  if (again !== undefined) return again;
  const { queueForMs } = request;
  if (queueForMs !== undefined) return await unassignOrWait(deps, { ...request, queueForMs }, context);
  try {
    const answer = await leaveWhenFree(deps, request, context);
    await recordEnd(deps, undefined, context);
    return answer;
  } catch (error) {
    if (error instanceof Refusal && error.outcome === "not_executed") await recordEnd(deps, error, context);
    throw error;
  }
}

/** Records the outcome of the command. When a crash loses it, the rows of the command's attempts show the same outcome. */
async function recordEnd(deps: Deps, refusal: Refusal | undefined, { commandId }: CallContext): Promise<void> {
  const end = { at: deps.now(), refusal: refusal && recordedAs(refusal) };
  await markUnassignmentEnded(deps.pool, commandId, end).catch((cause: unknown) => {
    deps.log.warn("unassign outcome not recorded, its attempts show it", { command_id: commandId, error: cause });
  });
}
