import type { Exchanges } from "../exchange.ts";
import { anAbsentAttempt, anAttempt } from "../samples/attempts.ts";
import { anOperation, noOperation } from "../samples/funding.ts";
import { LATER_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  listAttempts: [
    {
      name: "sent_twice",
      summary: "A deposit whose first send was lost",
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
            state: "absent",
            permit_expires_at: "2026-01-02T03:04:10.678000",
            ended_at: "2026-01-02T03:04:07.678000",
            answer_code: null,
            answer: "connection_lost",
            deal_id: null,
            searches: 2,
            searched_at: "2026-01-02T03:09:12.678000",
          },
          {
            number: 2,
            reference: "PD0F7K3M9Q2X2B",
            comment: "PD0F7K3M9Q2X2B CRM-2026-0001",
            permitted_at: LATER_TEXT,
            permit_expires_at: "2026-02-03T04:05:11.789000",
            ended_at: "2026-02-03T04:05:07.789000",
          },
        ],
      },
    },
  ],
};
