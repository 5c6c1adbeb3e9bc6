import { expect } from "vitest";
import type { Reply } from "./client.ts";
import { bool, exactly, expectShape, integer, type Shape, text } from "./shape.ts";

const ALWAYS = { type: text, title: text, detail: text, instance: text, code: text, request_id: text } as const;

export type Problem = {
  readonly status: number;
  readonly code: string;
  /** Every wrong field, in any order. */
  readonly fields?: readonly string[];
  /** Set when the problem guarantees that nothing was executed. */
  readonly outcome?: "not_executed" | "unknown";
  /** Members that only this code has. */
  readonly members?: Shape;
};

/** The form of every problem: no member missing, no other member, and headers that agree with it. */
export function expectProblem(reply: Reply, { status, code, fields, outcome, members }: Problem): void {
  const { headers } = reply;
  expect([reply.status, reply.body["code"]], reply.text).toEqual([status, code]);
  expect(headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
  const body = JSON.parse(reply.text) as Record<string, unknown>;
  expectShape(body, {
    ...ALWAYS,
    status: integer,
    retryable: bool,
    ...(fields === undefined ? {} : { errors: { what: "a list of errors", accepts: Array.isArray } }),
    ...(outcome === undefined ? {} : { outcome: exactly(outcome) }),
    ...members,
  });
  expect(body["status"]).toBe(status);
  expect(headers.get("x-request-id")).toBe(body["request_id"]);
  if (fields === undefined) return;
  const errors = body["errors"] as Record<string, unknown>[];
  for (const error of errors) expectShape(error, { field: text, code: text, message: text });
  expect(errors.map(({ field }) => String(field)).toSorted()).toEqual(fields.toSorted());
}
