import type { Exchanges } from "../exchange.ts";
import { anAbsentAttempt, anAttempt } from "../samples/attempts.ts";
import { anOperation, noOperation } from "../samples/funding.ts";

export const exchanges: Exchanges = {
  listAttempts: [
    {
      name: "sent_twice",
      summary: "A deposit whose first send was lost",
      request: { params: { operation_id: "0198c0de-0000-7000-8000-000000000001" } },
      services: {
        funding: { getOperation: async () => anOperation({ transferKeys: ["funding:deposit:17"] }) },
        subscriptions: { getOperation: noOperation, findMirrors: async () => ({ items: [] }) },
        platform: { readAttempts: async () => ({ attempts: [anAbsentAttempt(), anAttempt()] }) },
      },
      asked: [
        { method: "getOperation", request: { operationId: "0198c0de-0000-7000-8000-000000000001" } },
        { method: "getOperation", request: { operationId: "0198c0de-0000-7000-8000-000000000001" } },
        { method: "findMirrors", request: { keys: ["funding:deposit:17"] } },
        { method: "readAttempts", request: { keys: ["funding:deposit:17"] } },
      ],
      answer: {
        items: [
          {
            mt5_transfer_id: 4711,
            login: "3000003",
            kind: "deposit",
            amount: 250.5,
            number: 1,
            reference: "PD0F7K3M9Q2X1A",
            comment: "PD0F7K3M9Q2X1A CRM-2026-0001",
            state: "absent",
            permitted_at: "2026-01-02T03:04:05.678000",
            permit_expires_at: "2026-01-02T03:04:10.678000",
            ended_at: "2026-01-02T03:04:07.678000",
            answer_code: null,
            answer: "connection_lost",
            deal_id: null,
            searches: 2,
            searched_at: "2026-01-02T03:09:12.678000",
          },
          {
            mt5_transfer_id: 4711,
            login: "3000003",
            kind: "deposit",
            amount: 250.5,
            number: 2,
            reference: "PD0F7K3M9Q2X2B",
            comment: "PD0F7K3M9Q2X2B CRM-2026-0001",
            state: "applied",
            permitted_at: "2026-02-03T04:05:06.789000",
            permit_expires_at: "2026-02-03T04:05:11.789000",
            ended_at: "2026-02-03T04:05:07.789000",
            answer_code: 0,
            answer: null,
            deal_id: 1234567,
            searches: 0,
            searched_at: null,
          },
        ],
        is_complete: true,
      },
    },
  ],
};
