import type { Exchanges } from "../exchange.ts";
import { anInvestor } from "../samples/account.ts";
import { AT, LATER, LATER_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  eraseInvestor: [
    {
      name: "erased",
      summary: "A closed Investor",
      services: {
        accounts: {
          eraseInvestor: async () => ({
            investor: anInvestor({ name: "erased" }),
            requestedBy: "KeyOfAnna001",
            requestedAt: AT,
            erasedAt: LATER,
            onPlatform: true,
          }),
        },
      },
      asked: [{ method: "eraseInvestor", request: { login: "3000003", actor: "tests" } }],
      answer: { requested_by: "KeyOfAnna001", erased_at: LATER_TEXT },
    },
  ],
};
