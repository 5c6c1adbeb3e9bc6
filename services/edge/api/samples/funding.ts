import { Refusal } from "#kernel/values/refusal.ts";
import {
  type DepositResponse,
  type Operation,
  OperationAction,
  OperationOutcome,
  QueueState,
  type PreviewWithdrawResponse,
  type WithdrawalFigures,
  type WithdrawResponse,
} from "#proto/pamm/funding/v1/funding.ts";
import { AT, cents, LATER, sample } from "./values.ts";

export const aDeposit = sample<DepositResponse>({
  operationId: "0198c0de-0000-7000-8000-000000000001",
  dealId: 1_234_567n,
  firstDepositChecked: true,
  minDepositRequired: cents(100_50n),
});

export const aWithdrawal = sample<WithdrawResponse>({
  operationId: "0198c0de-0000-7000-8000-000000000002",
  requestedAmount: cents(50_00n),
  effectiveWithdraw: cents(50_00n),
  openPositionsChecked: true,
  pendingFee: cents(0n),
  balanceBefore: cents(250_55n),
  availableAfterFee: cents(250_55n),
  dealId: 1_234_568n,
});

/** Nothing of it is decided. */
export const aQueuedWithdrawal = sample<WithdrawResponse>({
  ...aWithdrawal(),
  effectiveWithdraw: undefined,
  pendingFee: undefined,
  balanceBefore: undefined,
  availableAfterFee: undefined,
  dealId: undefined,
  queuedUntil: LATER,
});

export function aCancelledWithdrawal(): Operation {
  return anOperation({
    operationId: "0198c0de-0000-7000-8000-000000000004",
    action: OperationAction.WITHDRAW,
    outcome: OperationOutcome.NOT_EXECUTED,
    refusalCode: "cancelled",
    dealId: undefined,
    reference: "",
    legs: [],
    queueState: QueueState.ENDED,
    queuedUntil: LATER,
  });
}

/** With a pending fee of 12.34 and a balance of 250.55. */
export function aWithdrawalPreview(figures: Partial<WithdrawalFigures> = {}): PreviewWithdrawResponse {
  return {
    refusals: [],
    openPositionsChecked: true,
    figures: {
      effectiveWithdraw: cents(50_00n),
      pendingFee: cents(12_34n),
      balanceBefore: cents(250_55n),
      availableAfterFee: cents(238_21n),
      ...figures,
    },
    possibleDuplicateOf: undefined,
  };
}

export const anOperation = sample<Operation>({
  operationId: "0198c0de-0000-7000-8000-000000000001",
  action: OperationAction.DEPOSIT,
  login: "3000003",
  amount: cents(250_50n),
  comment: "CRM-2026-0001",
  outcome: OperationOutcome.EXECUTED,
  refusalCode: "",
  dealId: 1_234_567n,
  createdAt: AT,
  finishedAt: LATER,
  masterLogin: "3000001",
  labels: { externalId: "CRM-7001", metadata: { segment: "retail" } },
  reference: "PD0F7K3M9Q2X1A",
  feeKey: "",
  transferKeys: [],
  legs: [
    {
      login: "3000003",
      kind: "deposit",
      amount: cents(250_50n),
      outcome: OperationOutcome.EXECUTED,
      dealId: 1_234_567n,
      reference: "PD0F7K3M9Q2X1A",
      appliedAt: LATER,
      waitsFor: "",
    },
  ],
});

/** Of the service that has not recorded the operation. */
export const noOperation = () =>
  Promise.reject(
    new Refusal({ code: "operation_not_found", status: "not_found", message: "no operation has this id" }),
  );
