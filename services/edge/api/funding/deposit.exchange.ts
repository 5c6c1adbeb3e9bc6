import type { Exchanges } from "../exchange.ts";
import { aDeposit } from "../samples/funding.ts";

export const exchanges: Exchanges = {
  depositFunds: [
    {
      name: "executed",
      summary: "A deposit",
      request: {
        body: { external_id: "CRM-7001", metadata: { segment: "retail" } },
        query: { login: "3000003", amount: "250.50", currency: "USD", comment: "CRM-2026-0001" },
      },
      services: { funding: { deposit: async (_request, { commandId }) => aDeposit({ operationId: commandId }) } },
      asked: [
        {
          method: "deposit",
          request: {
            login: "3000003",
            amount: { currencyCode: "USD", minorUnits: 25050n },
            comment: "CRM-2026-0001",
            client: { keyId: "KeyOfTests01", choseComment: true, rejectsDuplicates: false },
            labels: { externalId: "CRM-7001", metadata: { segment: "retail" } },
          },
        },
      ],
      answer: {
        status: "success",
        action: "deposit",
        login: "3000003",
        amount: 250.5,
        currency: "USD",
        deal_id: 1234567,
        message: "Deposited 250.50 USD.",
        first_deposit_checked: true,
        min_deposit_required: "100.50",
      },
    },
  ],
};
