import { expect, test } from "vitest";
import type { ClassLimits } from "./admission.ts";
import { testEdge } from "../testing/test-edge.ts";

/** One in 1,000 seconds: no test takes so long that one comes back. */
const FEW = { rate: { perSecond: 0.001, burst: 2 }, inProgress: 10 };
const LIMITS: Record<"read" | "money" | "create", ClassLimits> = { read: FEW, money: FEW, create: FEW };

/** The next one is accepted, or all are, in 1,000 seconds or a little less. */
const levelOf = (name: string, remaining: number): unknown =>
  expect.stringMatching(new RegExp(`^"${name}";r=${remaining};t=(1000|9\\d\\d)$`));

const URL = "/api/v1/whoami";

test("each response says what is left of the rate of its client, and a 429 when the next request is accepted", async () => {
  const edge = await testEdge({ app: { limits: LIMITS } });
  const answers = [];
  for (let sent = 0; sent < 3; sent += 1) answers.push(await edge.call({ url: URL }));

  expect(answers.map(({ status, headers }) => [status, headers["ratelimit-policy"], headers["ratelimit"]])).toEqual([
    [200, '"read";q=2;w=2000', levelOf("read", 1)],
    [200, '"read";q=2;w=2000', levelOf("read", 0)],
    [429, '"read";q=2;w=2000', levelOf("read", 0)],
  ]);
  expect(answers.map(({ headers }) => headers["retry-after"])).toEqual([
    undefined,
    undefined,
    expect.stringMatching(/^(1000|9\d\d)$/),
  ]);
});

test("problems have the headers of their kind of route too; a request without a valid key has none", async () => {
  const edge = await testEdge({ scopes: ["ops"], app: { limits: LIMITS } });
  const post = { method: "POST", url: "/api/v1/investor/deposit" } as const;
  const refused = await edge.call(post);
  const unknown = await edge.call({ ...post, headers: { authorization: "Bearer other" } });

  expect([refused.status, refused.headers["ratelimit-policy"]]).toEqual([403, '"money";q=2;w=2000']);
  expect(refused.headers["ratelimit"]).toEqual(levelOf("money", 1));
  expect([unknown.status, unknown.headers["ratelimit"]]).toEqual([401, undefined]);
});
