import { Refusal } from "#kernel/refusal.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import { anAbsentAttempt, anAttempt } from "../../../services/edge/testing/replies/attempts.ts";
import { aDeferredPayment, aRun, aRunPayment } from "../../../services/edge/testing/replies/fee-runs.ts";
import { anOperation } from "../../../services/edge/testing/replies/funding.ts";
import { aMaster, aMasterProfile, aMasterStatus } from "../../../services/edge/testing/replies/account.ts";
import { aBreak, aReview, thePermits } from "../../../services/edge/testing/replies/ops.ts";
import { aListedKey } from "../../../services/edge/testing/replies/keys.ts";
import { AT, LATER } from "../../../services/edge/testing/replies/values.ts";
import type { Case } from "./case.ts";

const noOperation = () =>
  Promise.reject(new Refusal({ code: "operation_not_found", status: "not_found", message: "there is none" }));

export const attemptRoutes: readonly Case[] = [
  {
    name: "list-attempts",
    method: "GET",
    url: "/api/v1/operations/0198c0de-0000-7000-8000-000000000001/attempts",
    answers: {
      funding: { getOperation: async () => anOperation({ transferKeys: ["funding:deposit:17"] }) },
      subscriptions: { getOperation: noOperation, findMirrors: async () => ({ items: [] }) },
      platform: { readAttempts: async () => ({ attempts: [anAbsentAttempt(), anAttempt()] }) },
    },
  },
];

export const runRoutes: readonly Case[] = [
  {
    name: "list-fee-runs",
    method: "GET",
    url: "/api/v1/perf-fee/runs?master_login=3000001&limit=1",
    answers: { fees: { listRuns: async () => ({ items: [aRun()], hasMore: true }) } },
  },
  {
    name: "get-fee-run",
    method: "GET",
    url: "/api/v1/perf-fee/runs/12",
    answers: { fees: { getRun: async () => aRun() } },
  },
  {
    name: "list-fee-run-payments",
    method: "GET",
    url: "/api/v1/perf-fee/runs/12/payments",
    answers: {
      fees: { listRunPayments: async () => ({ items: [aRunPayment(), aDeferredPayment()], hasMore: false }) },
    },
  },
];

export const caseRoutes: readonly Case[] = [
  {
    name: "get-review",
    method: "GET",
    url: "/api/v1/ops/reviews/fee-5",
    answers: { fees: { listReviews: async () => ({ items: [aReview()], hasMore: true }) } },
  },
  {
    name: "get-break",
    method: "GET",
    url: "/api/v1/ops/breaks/fee-17",
    answers: { fees: { listBreaks: async () => ({ items: [aBreak()], checks: [], hasMore: false }) } },
  },
];

export const profileRoutes: readonly Case[] = [
  {
    name: "get-master-profile-by-login",
    method: "GET",
    url: "/api/v1/info/master/3000001/profile",
    answers: {
      accounts: {
        findMaster: async () => aMaster(),
        getMasterProfile: async () => aMasterProfile(),
        getMasterStatus: async () => aMasterStatus(),
      },
    },
  },
];

export const permitRoutes: readonly Case[] = [
  {
    name: "get-permits",
    method: "GET",
    url: "/api/v1/ops/permits",
    answers: {
      platform: {
        getPermits: async () => thePermits(),
      },
    },
  },
];

export const archivedRoutes: readonly Case[] = [
  {
    name: "list-archived-accounts",
    method: "GET",
    url: "/api/v1/ops/archived-accounts?limit=2",
    answers: {
      platform: {
        listUnshownAccounts: async () => ({
          accounts: [
            { login: "3000002", role: AccountRole.PAYMENT, unshownSince: LATER, archivedAt: undefined },
            { login: "3000003", role: AccountRole.INVESTOR, unshownSince: AT, archivedAt: LATER },
          ],
          hasMore: false,
          archived: 1n,
          unconfirmed: 1n,
        }),
      },
    },
  },
];

export const listedKeyRoutes: readonly Case[] = [
  {
    name: "list-keys",
    method: "GET",
    url: "/api/v1/ops/keys?limit=2",
    answers: {
      keys: {
        list: async () => ({
          keys: [
            aListedKey({ id: "KeyOfAnna002", replaces: "KeyOfAnna001", createdAt: LATER, lastUsedAt: LATER }),
            aListedKey({ replacedBy: "KeyOfAnna002", expiresAt: LATER, revokedAt: LATER, lastUsedAt: AT }),
          ],
          hasMore: true,
          system: { environment: "test", hasBootstrapKey: true, bootstrapUsedAt: null },
        }),
      },
    },
  },
];
