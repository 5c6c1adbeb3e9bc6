import type { Exchanges } from "../exchange.ts";
import { aFeeVersion } from "../samples/fee.ts";
import { AT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  listFeeVersions: [
    {
      name: "page",
      summary: "A scheduled version and the one in force",
      request: { params: { investor_login: "3000003" }, query: { limit: "2" } },
      services: {
        fees: {
          listVersions: async () => ({
            investorLogin: "3000003",
            items: [aFeeVersion(), aFeeVersion({ id: 16n, enabled: false, effectiveSince: AT, state: "in_force" })],
            hasMore: true,
          }),
        },
      },
      asked: [{ method: "listVersions", request: { investorLogin: "3000003", beforeId: 0n, limit: 2 } }],
      answer: {
        investor_login: "3000003",
        items: [
          {
            id: 17,
            rate: "0.250000",
            enabled: true,
            effective_since: "2026-02-03T04:05:06.789000",
            created_at: "2026-01-02T03:04:05.678000",
            state: "scheduled",
          },
          {
            id: 16,
            rate: "0.250000",
            enabled: false,
            effective_since: "2026-01-02T03:04:05.678000",
            created_at: "2026-01-02T03:04:05.678000",
            state: "in_force",
          },
        ],
        next_cursor: 16,
        has_more: true,
      },
    },
  ],
  cancelFeeVersion: [
    {
      name: "cancelled",
      summary: "A scheduled version",
      request: { params: { investor_login: "3000003", version_id: "17" } },
      services: { fees: { cancelVersion: async () => aFeeVersion({ state: "cancelled" }) } },
      asked: [{ method: "cancelVersion", request: { investorLogin: "3000003", versionId: 17n } }],
      answer: {
        id: 17,
        rate: "0.250000",
        enabled: true,
        effective_since: "2026-02-03T04:05:06.789000",
        created_at: "2026-01-02T03:04:05.678000",
        state: "cancelled",
      },
    },
  ],
};
