import type { Exchanges } from "../exchange.ts";
import { aMaster } from "../samples/account.ts";
import { MASTER } from "./examples.ts";

export const exchanges: Exchanges = {
  closeMaster: [
    {
      name: "closing",
      summary: "Two Investors begin to leave",
      request: { params: { master_id: "7" } },
      services: { accounts: { closeMaster: async () => aMaster() } },
      asked: [{ method: "closeMaster", request: { id: 7n } }],
      answer: MASTER,
    },
  ],
};
