import { Refusal } from "#kernel/refusal.ts";
import { anAbsentAttempt, anAttempt } from "../../../services/edge/testing/replies/attempts.ts";
import { anOperation } from "../../../services/edge/testing/replies/funding.ts";
import type { Case } from "./cases.ts";

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
