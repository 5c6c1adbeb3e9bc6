import type { Exchanges } from "../exchange.ts";

export const exchanges: Exchanges = {
  listMasterInvestors: [
    {
      name: "investors",
      summary: "One Investor",
      request: { params: { master_login: "3000001" } },
      services: {
        subscriptions: {
          listActiveInvestors: async () => ({ items: [{ id: 8n, login: "3000003", name: "Ada" }], hasMore: false }),
        },
      },
      asked: [{ method: "listActiveInvestors", request: { masterLogin: "3000001", afterInvestorId: 0n, limit: 500 } }],
      answer: [{ id: 8, mt5_login: "3000003", name: "Ada" }],
    },
  ],
};
