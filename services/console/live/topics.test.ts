import { expect, test } from "vitest";
import { listen, publish, publishAll } from "./topics.ts";

const EVENT = {
  id: 7n,
  type: "deposit.executed",
  occurred_at: "2026-01-31T12:00:00.000000",
  state: "executed",
  subject_id: "a",
  login: "3000003",
  master_login: "3000001",
  operation_id: "a",
  amount: "1.00",
  deal_id: 5n,
  reason: null,
  key: "funding-7",
} as const;

test("an event reaches those who show what it is about, and no other reader", () => {
  const reached: string[] = [];
  const ends = (["operations", "operation:a", "login:3000001", "operation:b", "reviews"] as const).map((topic) =>
    listen([topic], () => reached.push(topic)),
  );
  publish([EVENT]);
  expect(reached).toEqual(["operations", "operation:a", "login:3000001"]);
  publishAll();
  expect(reached).toHaveLength(8);
  for (const end of ends) end();
  publish([EVENT]);
  expect(reached).toHaveLength(8);
});
