import type { Exchanges } from "../exchange.ts";
import { aMaster } from "../samples/account.ts";
import { cents } from "../samples/values.ts";
import { MASTER } from "./examples.ts";

export const exchanges: Exchanges = {
  updateMaster: [
    {
      name: "min_deposit",
      summary: "Another minimum deposit",
      request: { params: { master_id: "7" }, body: { min_deposit: 0 } },
      services: { accounts: { updateMaster: async () => aMaster({ minDeposit: cents(0n) }) } },
      asked: [{ method: "updateMaster", request: { id: 7n, minDeposit: { currencyCode: "USD", minorUnits: 0n } } }],
      answer: { ...MASTER, min_deposit: 0 },
    },
    {
      name: "payment_account",
      summary: "Another payment account",
      request: { params: { master_id: "7" }, body: { payment_account_login: "3000006" } },
      services: { accounts: { updateMaster: async () => aMaster({ paymentAccountLogin: "3000006" }) } },
      answer: { ...MASTER, payment_account_login: "3000006" },
    },
    {
      name: "not_accepting",
      summary: "No new Investors",
      request: { params: { master_id: "7" }, body: { accepting_investors: false } },
      services: { accounts: { updateMaster: async () => aMaster({ acceptingInvestors: false }) } },
      answer: MASTER,
    },
  ],
};
