import { NotExecuted } from "./deposit.ts";

/** What the worker of a peer answers its gateway: refusals are values, because they cross a process boundary. */
export type WorkAnswer = { readonly dealId: string } | { readonly refused: string };

export async function answerOf(work: Promise<string>): Promise<WorkAnswer> {
  try {
    return { dealId: await work };
  } catch (error) {
    if (error instanceof NotExecuted) return { refused: error.message };
    throw error;
  }
}

export type HttpAnswer = { readonly status: number; readonly body: object };

export function httpAnswerOf(answer: WorkAnswer): HttpAnswer {
  return "dealId" in answer
    ? { status: 200, body: { deal_id: Number(answer.dealId) } }
    : { status: 409, body: { outcome: "not_executed", message: answer.refused } };
}

/** The query of a deposit, in the form of the service's route. */
export type DepositQuery = { readonly login: string; readonly amount: string; readonly comment: string };

export const DEPOSIT_SCHEMA = {
  querystring: {
    type: "object",
    required: ["login", "amount", "comment"],
    properties: { login: { type: "string" }, amount: { type: "string" }, comment: { type: "string" } },
  },
};

export function requestOf({ login, amount, comment }: DepositQuery) {
  return { login, amountMinor: Math.round(Number(amount) * 100), comment };
}
