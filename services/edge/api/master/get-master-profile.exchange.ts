import { MasterState } from "#proto/pamm/account/v1/account.ts";
import type { Exchanges } from "../exchange.ts";
import { aMasterProfile, aMasterStatus } from "../samples/account.ts";
import { AT, LATER } from "../samples/values.ts";
import { MASTER_PROFILE } from "./examples.ts";

export const exchanges: Exchanges = {
  getMasterProfile: [
    {
      name: "open",
      summary: "Open for new Investors",
      request: { params: { master_id: "7" } },
      services: {
        accounts: {
          getMasterProfile: async () => aMasterProfile(),
          getMasterStatus: async () => aMasterStatus(),
        },
      },
      asked: [
        { method: "getMasterProfile", request: { id: 7n } },
        { method: "getMasterStatus", request: { id: 7n } },
      ],
      answer: { ...MASTER_PROFILE, state: "open", since: "2026-01-02T03:04:05.678000", closing: null },
    },
    {
      name: "closing",
      summary: "Being closed, and waiting for open positions",
      request: { params: { master_id: "7" } },
      services: {
        accounts: {
          getMasterProfile: async () => aMasterProfile(),
          getMasterStatus: async () =>
            aMasterStatus({
              state: MasterState.CLOSING,
              since: AT,
              closing: {
                investorsLeft: 2n,
                exitsInProgress: 1n,
                lastProgressAt: LATER,
                blockedBy: "master_open_positions",
              },
            }),
        },
      },
      answer: {
        ...MASTER_PROFILE,
        state: "closing",
        since: "2026-01-02T03:04:05.678000",
        closing: {
          investors_left: 2,
          exits_in_progress: 1,
          last_progress_at: "2026-02-03T04:05:06.789000",
          blocked_by: "master_open_positions",
        },
      },
    },
  ],
};
