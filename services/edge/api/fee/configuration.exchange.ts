import type { Exchanges } from "../exchange.ts";
import { aFeeConfiguration, aFeeVersion } from "../samples/fee.ts";
import { AT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  getFeeConfiguration: [
    {
      name: "in_force",
      summary: "A version in force",
      request: { params: { investor_login: "3000003" } },
      services: { fees: { getConfiguration: async () => aFeeConfiguration() } },
      asked: [{ method: "getConfiguration", request: { investorLogin: "3000003" } }],
      answer: {
        investor_id: 8,
        investor_login: "3000003",
        rate: "0.300000",
        enabled: true,
        effective_since: "2026-01-02T03:04:05.678000",
        created_at: "2026-01-02T03:04:05.678000",
        updated_at: "2026-02-03T04:05:06.789000",
      },
    },
  ],
  updateFeeConfiguration: [
    {
      name: "rate",
      summary: "A new rate",
      request: {
        body: {
          investor_login: "3000003",
          rate: 0.25,
          enabled: false,
          effective_since: "2026-01-02T05:04:05.678+02:00",
        },
      },
      services: { fees: { updateConfiguration: async () => aFeeConfiguration({ ratePpm: 250_000, enabled: false }) } },
      asked: [
        {
          method: "updateConfiguration",
          request: {
            investorLogin: "3000003",
            ratePpm: 250000,
            enabled: false,
            effectiveSince: new Date("2026-01-02T03:04:05.678Z"),
            upsert: true,
          },
        },
      ],
      answer: {
        investor_id: 8,
        investor_login: "3000003",
        rate: "0.250000",
        enabled: false,
        effective_since: "2026-01-02T03:04:05.678000",
        created_at: "2026-01-02T03:04:05.678000",
        updated_at: "2026-02-03T04:05:06.789000",
      },
    },
  ],
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
