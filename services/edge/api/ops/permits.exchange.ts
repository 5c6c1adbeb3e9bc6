import type { Exchanges } from "../exchange.ts";
import { thePermits } from "../samples/ops.ts";

export const exchanges: Exchanges = {
  getPermits: [
    {
      name: "stopped",
      summary: "After a restore to an older time",
      request: {},
      services: {
        platform: {
          getPermits: async () => thePermits(),
        },
      },
      asked: [{ method: "getPermits", request: {} }],
      answer: {
        state: "stopped",
        stopped_at: "2026-01-02T03:04:05.678000",
        resumable_from: "2026-02-03T04:05:06.789000",
        blocking: [
          { code: "check_not_complete", detail: "The check deal_matching has not completed a run since the stop." },
        ],
        imports: { movements: 12, open_movements: 1, unclaimed_fees: 0, accounts_to_read: 0 },
      },
    },
  ],
};
