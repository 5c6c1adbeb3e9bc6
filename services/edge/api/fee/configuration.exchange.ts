import type { Exchanges } from "../exchange.ts";
import { aFeeConfiguration, aFeeVersion } from "../samples/fee.ts";
import { AT, LATER_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  getFeeConfiguration: [
    {
      name: "in_force",
      summary: "A version in force",
      services: { fees: { getConfiguration: async () => aFeeConfiguration() } },
      asked: [{ method: "getConfiguration", request: { investorLogin: "3000003" } }],
      answer: { updated_at: LATER_TEXT },
    },
  ],
  updateFeeConfiguration: [
    {
      name: "rate",
      summary: "A new rate",
      request: { body: { rate: 0.25, enabled: false, effective_since: "2026-01-02T05:04:05.678+02:00" } },
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
      answer: { rate: "0.250000", enabled: false, updated_at: LATER_TEXT },
    },
  ],
  listFeeVersions: [
    {
      name: "page",
      summary: "A scheduled version and the one in force",
      request: { query: { limit: "2" } },
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
        items: [{ effective_since: LATER_TEXT }, { id: 16, enabled: false, state: "in_force" }],
        next_cursor: 16,
        has_more: true,
      },
    },
  ],
  cancelFeeVersion: [
    {
      name: "cancelled",
      summary: "A scheduled version",
      services: { fees: { cancelVersion: async () => aFeeVersion({ state: "cancelled" }) } },
      asked: [{ method: "cancelVersion", request: { investorLogin: "3000003", versionId: 17n } }],
      answer: { effective_since: LATER_TEXT, state: "cancelled" },
    },
  ],
};
