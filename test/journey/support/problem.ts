import { expect } from "vitest";
import type { Reply } from "./client.ts";

export type Problem = {
  readonly status: number;
  readonly code: string;
  /** Set when the problem guarantees that nothing was executed. */
  readonly outcome?: "not_executed" | "unknown";
  /** Members that only this code has. */
  readonly members?: object;
};

/** That each problem has the members of its code and no other ones is compared by `strict-clients.test.ts` and the exchanges of the routes. */
export function expectProblem(
  { status, headers, body, text }: Reply,
  { status: expected, members, ...rest }: Problem,
): void {
  expect([status, headers.get("content-type")], text).toEqual([expected, "application/problem+json; charset=utf-8"]);
  expect(body, text).toMatchObject({ ...rest, ...members });
}
