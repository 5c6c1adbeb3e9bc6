import { Refusal } from "#kernel/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Answers } from "../exchange.ts";
import { anOperation } from "./funding.ts";
import { AT, cents } from "./values.ts";

const NONE = { items: [], hasMore: false };

/** A deposit with one leg, about which the services have these cases. */
export function ofADeposit(ofPlatform: NonNullable<Answers["platform"]>): Answers {
  const none = { listReviews: async () => NONE, listBreaks: async () => ({ ...NONE, checks: [] }) };
  const leg = { login: "3000003", kind: MovementKind.DEPOSIT, amount: cents(250_50n), appliedAt: AT, number: 4711n };
  const state = TransferState.APPLIED;
  return {
    funding: { ...none, getOperation: async () => anOperation({ transferKeys: ["funding:deposit:1"] }) },
    subscriptions: {
      ...none,
      getOperation: () =>
        Promise.reject(new Refusal({ code: "operation_not_found", status: "not_found", message: "no operation" })),
      findMirrors: async () => ({ items: [] }),
    },
    fees: none,
    platform: {
      ...none,
      readTransfers: async () => ({
        transfers: [
          {
            transferId: 31n,
            key: "funding:deposit:1",
            state,
            refusalCode: "",
            platformCode: 0,
            legs: [{ ...leg, state, dealId: 1_234_567n, reference: "PD0F7K3M9Q2X1A" }],
          },
        ],
      }),
      ...ofPlatform,
    },
  };
}
