import { expect, test } from "vitest";
import { createSeenTickets } from "./answer-correlation.ts";

test("a ticket is new once, and only the last 10,000 tickets are remembered", () => {
  const tickets = createSeenTickets();
  for (let ticket = 1n; ticket <= 10_000n; ticket += 1n) expect(tickets.isFirst(ticket)).toBe(true);
  expect(tickets.isFirst(1n)).toBe(false);
  expect(tickets.isFirst(10_001n)).toBe(true);
  expect(tickets.isFirst(2n)).toBe(false);
  expect(tickets.isFirst(1n)).toBe(true);
});
