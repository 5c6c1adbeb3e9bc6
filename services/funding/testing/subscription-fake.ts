import type { Client } from "#kernel/contract/contract.ts";
import { refusalToProto } from "#kernel/contract/error.ts";
import { outcomeUnknown, serviceUnavailable } from "#kernel/contract/refusals.ts";
import { cancelled, notCancellable } from "#catalogue/queue-until-flat.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import {
  type SubscriptionServiceService,
  SubscriptionStatus,
  WithdrawalState,
  type WithdrawRequest,
  type WithdrawResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import type { PlatformFake } from "#test/support/platform-fake/platform-fake.ts";

/** What goes wrong once, at the next request for a withdrawal. */
export type WithdrawFault = "unreachable" | "lost answer";

export type SubscriptionFake = Client<SubscriptionServiceService> & {
  /** Requests for withdrawals. */
  readonly asked: WithdrawRequest[];
  readonly faults: WithdrawFault[];
  /** What the next new withdrawals come to, first one first. Without one, what is available is paid at once. */
  readonly next: WithdrawResponse[];
  /** What is recorded of each withdrawal. */
  readonly recorded: Map<string, WithdrawResponse>;
};

/** Every other call is a defect of the test. */
type Used = "asked" | "faults" | "next" | "recorded" | "findOpenSubscription" | "withdraw" | "cancelWithdrawal";

type World = {
  readonly platform: PlatformFake;
  readonly investor: string;
  /** Undefined for an Investor that follows none. */
  readonly master: string | undefined;
  /** Cents. */
  readonly pendingFee: bigint;
};

/** The Master is not flat, and the withdrawal waits. */
export const WAITS: WithdrawResponse = answerOf(WithdrawalState.WAITING);

export function answerOf(state: WithdrawalState, own: Partial<WithdrawResponse> = {}): WithdrawResponse {
  return { state, refusal: undefined, figures: undefined, dealId: undefined, hasWaited: false, inPool: false, ...own };
}

export function refusedWith(refusal: Refusal, own: Partial<WithdrawResponse> = {}): WithdrawResponse {
  return answerOf(WithdrawalState.REFUSED, { refusal: refusalToProto(refusal), ...own });
}

/** Carries out each withdrawal once: a payout is a transfer at platform, a repetition gets what is recorded. */
export function subscriptionFake({ platform, investor, master, pendingFee }: World): SubscriptionFake {
  const fake = {
    asked: [],
    faults: [],
    next: [],
    recorded: new Map(),
    findOpenSubscription: async () => ({
      subscription: master === undefined ? undefined : following(investor, master),
    }),
    async withdraw(request, context) {
      const { asked, faults, next, recorded } = fake;
      asked.push(request);
      const fault = faults.shift();
      if (fault === "unreachable") throw serviceUnavailable("subscription");
      const known = recorded.get(request.operationId);
      const answer = known ?? next.shift() ?? (isLate(request) ? TOO_LATE : await payOut(request, context));
      recorded.set(request.operationId, answer);
      if (fault === "lost answer") throw outcomeUnknown("subscription");
      return answer;
    },
    async cancelWithdrawal({ operationId }) {
      const known = fake.recorded.get(operationId);
      if (known?.state === WithdrawalState.WAITING) {
        fake.recorded.set(operationId, refusedWith(cancelled(), { hasWaited: true }));
      } else if (known?.refusal?.code !== "cancelled") {
        throw notCancellable(operationId);
      }
      return {};
    },
  } as Pick<SubscriptionFake, Used> as SubscriptionFake;

  async function payOut(
    { operationId, amount, comment }: WithdrawRequest,
    context: Parameters<PlatformFake["client"]["transfer"]>[1],
  ): Promise<WithdrawResponse> {
    const before = balanceOf(platform.ledger, investor);
    const available = before > pendingFee ? before - pendingFee : 0n;
    const requested = amount?.minorUnits ?? 0n;
    const effective = requested < available ? requested : available;
    const [balanceBefore, fee, left, paid] = [before, pendingFee, available, effective].map(usd);
    const inPool = master !== undefined;
    const figures = {
      balanceBefore,
      pendingFee: fee,
      availableAfterFee: left,
      effective: paid,
    };
    if (effective === 0n) return answerOf(WithdrawalState.PAID, { figures, inPool });
    const legs = [{ login: investor, kind: MovementKind.WITHDRAWAL, amount: usd(-effective) }];
    const order = { lockOwner: "", upTo: undefined, enqueue: false, sendBefore: undefined, releaseLock: false };
    const { state, legs: moved } = await platform.client.transfer(
      { key: `withdrawal:${operationId}`, legs, comment, ...order },
      context,
    );
    if (state !== TransferState.APPLIED) return answerOf(WithdrawalState.UNKNOWN);
    return answerOf(WithdrawalState.PAID, { figures, inPool, dealId: moved[0]?.dealId });
  }
  return fake;
}

const TOO_LATE = refusedWith(
  new Refusal({
    code: "platform_unavailable",
    status: "unavailable",
    message: "The operation could not begin in time. Nothing was executed.",
    outcome: "not_executed",
  }),
);

function isLate({ deadline }: WithdrawRequest): boolean {
  return deadline !== undefined && deadline.getTime() <= Date.now();
}

function usd(minorUnits: bigint) {
  return { currencyCode: "USD", minorUnits };
}

function following(investorLogin: string, masterLogin: string) {
  const at = new Date("2026-01-01T00:00:00Z");
  return {
    id: 1n,
    masterId: 1n,
    investorId: 1n,
    masterLogin,
    investorLogin,
    status: SubscriptionStatus.ACTIVE,
    inPool: true,
    startedAt: at,
    endedAt: undefined,
    createdAt: at,
    balanceBaselineOpId: 1n,
  };
}
