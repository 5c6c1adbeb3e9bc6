import { refusalToProto } from "#kernel/contract/error.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import {
  WithdrawalState,
  type WithdrawRequest,
  type WithdrawResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isLogin, isPresent, validate, wrong } from "../domain/validate.ts";
import { platformUnavailable } from "../domain/lock-refusals.ts";
import { beginOrJoin } from "../processes/departure/begin.ts";
import type { Completed } from "../processes/departure/complete.ts";
import { outcomeUnknown } from "../processes/departure/end.ts";
import { insertNeverBegun } from "../store/departures.ts";

/** Carries out a withdrawal once for each operation, or continues it, and answers how far it is. */
export async function withdraw(deps: Deps, request: WithdrawRequest, context: CallContext): Promise<WithdrawResponse> {
  const { operationId, investorLogin, comment, deadline, queueUntil } = request;
  const requested = moneyFromProto(request.amount, "amount").minor;
  validate(
    isPresent("operation_id", operationId),
    isLogin("investor_login", investorLogin),
    requested > 0n ? undefined : wrong("amount", "out_of_range", "must be positive"),
    deadline === undefined ? wrong("deadline", "required", "is required") : undefined,
  );
  const at = deps.now();
  const own = { operationId, investorLogin, requested, comment, deadlineAt: deadline ?? at };
  if (at >= own.deadlineAt) {
    const refusal = recordedAs(notBegun());
    await insertNeverBegun(deps.pool, { ...own, requestId: context.requestId, at, refusal });
  }
  const departure = await beginOrJoin(deps, { kind: "WITHDRAWAL", ...own, queueUntil }, context);
  if (departure === undefined) throw outcomeUnknown({ operationId });
  return responseOf(departure);
}

/** None begins after its deadline. */
function notBegun(): Refusal {
  return platformUnavailable("The operation could not begin in time. Nothing was executed.");
}

function responseOf(departure: Completed): WithdrawResponse {
  const { state, refusal, hasWaited, doubt, dealId } = departure;
  switch (state) {
    case "WAITING":
      return { ...OPEN, state: WithdrawalState.WAITING, hasWaited };
    case "WANTED":
      return { ...OPEN, state: WithdrawalState.RUNNING, hasWaited };
    case "DECIDED":
      return { ...OPEN, state: WithdrawalState[doubt ?? "UNKNOWN"], hasWaited };
    case "REFUSED":
      return refused(refusal === null ? notBegun() : new Refusal(refusal), hasWaited);
    case "ENDED": {
      const figures = figuresOf(departure);
      return { state: WithdrawalState.PAID, refusal: undefined, figures, dealId: dealId ?? undefined, hasWaited };
    }
  }
}

const OPEN = { refusal: undefined, figures: undefined, dealId: undefined };

function refused(refusal: Refusal, hasWaited: boolean): WithdrawResponse {
  return { ...OPEN, state: WithdrawalState.REFUSED, refusal: refusalToProto(refusal), hasWaited };
}

function figuresOf({ subscriptionId, before, pending, available, effective }: Completed) {
  return {
    inPool: subscriptionId !== null,
    balanceBefore: moneyToProto(usd(before ?? 0n)),
    pendingFee: moneyToProto(usd(pending ?? 0n)),
    availableAfterFee: moneyToProto(usd(available ?? 0n)),
    effective: moneyToProto(usd(effective ?? 0n)),
  };
}
