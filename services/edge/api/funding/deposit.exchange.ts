import type { Exchanges } from "../exchange.ts";
import { aDeposit } from "../samples/funding.ts";

export const exchanges: Exchanges = {
  depositFunds: [
    {
      name: "executed",
      summary: "A deposit",
      request: {
        query: { currency: "USD", comment: "CRM-2026-0001" },
        body: { external_id: "CRM-7001", metadata: { segment: "retail" } },
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
      answer: { first_deposit_checked: true },
    },
  ],
};
