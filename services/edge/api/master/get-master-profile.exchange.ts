import type { Exchanges } from "../exchange.ts";
import { aMasterProfile, aMaster, aMasterStatus } from "../samples/account.ts";
import { MASTER_PROFILE } from "./examples.ts";

export const exchanges: Exchanges = {
  getMasterProfile: [
    {
      name: "master",
      summary: "A Master",
      request: { params: { master_id: "7" } },
      services: { accounts: { getMasterProfile: async () => aMasterProfile() } },
      asked: [{ method: "getMasterProfile", request: { id: 7n } }],
      answer: MASTER_PROFILE,
    },
  ],
  getMasterProfileByLogin: [
    {
      name: "master",
      summary: "A Master",
      request: { params: { master_login: "3000001" } },
      services: {
        accounts: {
          findMaster: async () => aMaster(),
          getMasterProfile: async () => aMasterProfile(),
          getMasterStatus: async () => aMasterStatus(),
        },
      },
      asked: [
        { method: "findMaster", request: { login: "3000001" } },
        { method: "getMasterProfile", request: { id: 7n } },
        { method: "getMasterStatus", request: { id: 7n } },
      ],
      answer: { ...MASTER_PROFILE, state: "open", since: "2026-01-02T03:04:05.678000", closing: null },
    },
  ],
};
