import { expect, test } from "vitest";
import type { ClassLimits } from "./admission.ts";
import { testEdge } from "../testing/test-edge.ts";

const MANY = { rate: { perSecond: 1_000, burst: 2_000 }, inProgress: 10 };
const FEW = { rate: { perSecond: 1, burst: 2 }, inProgress: 10 };
const LIMITS: Record<"read" | "money" | "create", ClassLimits> = { read: FEW, money: MANY, create: MANY };

const URL = "/api/v1/whoami";

test("each response says what is left of the rate of its client, and a 429 when the next request is accepted", async () => {
  const edge = await testEdge({ app: { limits: LIMITS } });
  const answers = [];
  for (let sent = 0; sent < 3; sent += 1) answers.push(await edge.call({ url: URL }));

  expect(answers.map(({ status, headers }) => [status, headers["ratelimit-policy"], headers["ratelimit"]])).toEqual([
    [200, '"read";q=2;w=2', '"read";r=1;t=1'],
    [200, '"read";q=2;w=2', '"read";r=0;t=1'],
    [429, '"read";q=2;w=2', '"read";r=0;t=1'],
  ]);
  expect(answers.map(({ headers }) => headers["retry-after"])).toEqual([undefined, undefined, "1"]);
});

test("problems have the headers of their kind of route too; a request without a valid key has none", async () => {
  const edge = await testEdge({ scopes: ["ops"], app: { limits: LIMITS } });
  const post = { method: "POST", url: "/api/v1/investor/deposit" } as const;
  const refused = await edge.call(post);
  const unknown = await edge.call({ ...post, headers: { authorization: "Bearer other" } });

  expect([refused.status, refused.headers["ratelimit-policy"]]).toEqual([403, '"money";q=2000;w=2']);
  expect(refused.headers["ratelimit"]).toBe('"money";r=1999;t=1');
  expect([unknown.status, unknown.headers["ratelimit"]]).toEqual([401, undefined]);
});
