import assert from "node:assert/strict";
import { refusalToProto } from "#kernel/contract/error.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import {
  WithdrawalState,
  type WithdrawRequest,
  type WithdrawResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { isLogin, isPresent, validate, wrong } from "../domain/validate.ts";
import { beginOrJoin } from "../processes/departure/depart.ts";
import type { Completed } from "../processes/departure/complete.ts";
import { outcomeUnknown } from "../processes/departure/end.ts";
import { departureFigures } from "../messages/subscription.ts";

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
  const deadlineAt = deadline ?? deps.now();
  const withdrawal = { kind: "WITHDRAWAL", requested, comment, subscriptionId: null, masterLogin: null } as const;
  const own = { operationId, investorLogin, deadlineAt, queueUntil };
  const departure = await beginOrJoin(deps, { ...withdrawal, ...own }, context);
  if (departure === undefined) throw outcomeUnknown({ operationId });
  return responseOf(departure);
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
      assert(refusal !== null, "a refused departure has its refusal");
      return { ...OPEN, state: WithdrawalState.REFUSED, refusal: refusalToProto(new Refusal(refusal)), hasWaited };
    case "ENDED": {
      const { subscriptionId, before, pending, available, effective } = departure;
      assert(before !== null && pending !== null && available !== null && effective !== null, "an end is decided");
      const numbers = { before, pending, available, effective };
      const figures = departureFigures(numbers);
      const [inPool, paid] = [subscriptionId !== null, dealId ?? undefined];
      return { state: WithdrawalState.PAID, refusal: undefined, figures, dealId: paid, hasWaited, inPool };
    }
  }
}

const OPEN = { refusal: undefined, figures: undefined, dealId: undefined, inPool: false };
