import type { Exchanges } from "../exchange.ts";
import { anAssignmentPreview, aSubscription } from "../samples/subscription.ts";
import { aReason, cents } from "../samples/values.ts";

const NOT_ASSIGNABLE = [
  aReason("investor_has_open_positions", "The Investor has open positions: 2. Close them first.", {
    open_positions: "2",
  }),
  aReason("below_min_deposit", "Investor balance 50.00 USD is below the Master's minimum deposit of 100.00 USD.", {
    required: "100.00",
    actual: "50.00",
  }),
];

export const exchanges: Exchanges = {
  assignInvestor: [
    {
      name: "assigned",
      summary: "With a performance fee of 30 %",
      services: { subscriptions: { assign: async () => ({ subscription: aSubscription() }) } },
      asked: [
        {
          method: "assign",
          request: { masterLogin: "3000001", investorLogin: "3000003", feeRatePpm: 300000, feeEnabled: true },
        },
      ],
    },
  ],
  previewAssignment: [
    {
      name: "allowed",
      summary: "The Investor would follow the Master",
      services: { subscriptions: { previewAssign: async () => anAssignmentPreview() } },
      asked: [
        { method: "previewAssign", request: { masterLogin: "3000001", investorLogin: "3000003", feeRatePpm: 300000 } },
      ],
      answer: { blocking: [], balance: "500.00", min_deposit: "100.00" },
    },
    {
      name: "blocked",
      summary: "Two reasons at once",
      request: { body: { investor_login: "3000004" } },
      services: {
        subscriptions: {
          previewAssign: async () => anAssignmentPreview({ balance: cents(50_00n), refusals: NOT_ASSIGNABLE }),
        },
      },
      answer: {
        allowed: false,
        blocking: [
          {
            code: "investor_has_open_positions",
            detail: "The Investor has open positions: 2. Close them first.",
            open_positions: 2,
          },
          {
            code: "below_min_deposit",
            detail: "Investor balance 50.00 USD is below the Master's minimum deposit of 100.00 USD.",
            required: "100.00",
            actual: "50.00",
          },
        ],
        balance: "50.00",
        min_deposit: "100.00",
      },
    },
  ],
};
