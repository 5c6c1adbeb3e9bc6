import type { Exchanges } from "../exchange.ts";
import { thePermits } from "../samples/ops.ts";
import { AT_TEXT, LATER_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  getPermits: [
    {
      name: "stopped",
      summary: "After a restore to an older time",
      services: {
        platform: {
          getPermits: async () => thePermits(),
        },
      },
      asked: [{ method: "getPermits", request: {} }],
      answer: {
        stopped_at: AT_TEXT,
        resumable_from: LATER_TEXT,
        blocking: [{ code: "check_not_complete" }],
        imports: {},
      },
    },
  ],
};
