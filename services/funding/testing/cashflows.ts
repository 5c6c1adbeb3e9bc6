import type { NewCashflow } from "../domain/cashflow.ts";
import { INVESTOR } from "./funding.ts";

export function aNewWithdrawal(overrides: Partial<NewCashflow> = {}): NewCashflow {
  return {
    operationId: "op-1",
    action: "withdraw",
    login: INVESTOR,
    amount: { currency: "USD", minor: 40_00n },
    comment: "",
    deadline: new Date(),
    at: new Date(),
    duplicates: undefined,
    decision: undefined,
    ...overrides,
  };
}
