import type { Exchanges } from "../exchange.ts";
import { anInvestor } from "../samples/account.ts";
import { AT, LATER } from "../samples/values.ts";

export const exchanges: Exchanges = {
  eraseInvestor: [
    {
      name: "erased",
      summary: "A closed Investor",
      request: { params: { investor_login: "3000003" } },
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
      answer: {
        id: 8,
        mt5_login: "3000003",
        name: "erased",
        created_at: "2026-01-02T03:04:05.678000",
        requested_by: "KeyOfAnna001",
        requested_at: "2026-01-02T03:04:05.678000",
        erased_at: "2026-02-03T04:05:06.789000",
        on_platform: true,
      },
    },
  ],
};
