// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, expect, test } from "vitest";
import { NoAnswerError } from "../../../client/index.ts";
import type { Permits } from "../../data/use-permits.ts";
import { Held } from "./held.tsx";

const STOPPED: Permits = {
  state: "stopped",
  stopped_at: "2026-01-02T03:04:05.678000",
  resumable_from: "2026-01-02T03:09:05.678000",
  blocking: [{ code: "quiet_period", detail: "Decide 300 seconds after the stop." }],
  imports: { movements: 2n, open_movements: 1n, unclaimed_fees: 0n, accounts_to_read: 0n },
};
const GRANTED: Permits = { state: "granted", stopped_at: null, resumable_from: null, blocking: [], imports: null };

afterEach(() => render(null, document.body));

function shown(data: Permits | undefined, problem?: unknown): string {
  render(<Held permits={{ data, problem, isLoading: false, refresh: () => {} }} />, document.body);
  return document.body.textContent;
}

test("what resume waits for is shown while money commands are held, and nothing otherwise", () => {
  expect(shown(STOPPED)).toContain("Imports open1");
  expect(shown(STOPPED)).toContain("Decide 300 seconds after the stop.");
  expect(shown({ ...STOPPED, blocking: [] })).toContain("Nothing keeps two people from resuming.");
  expect(shown(GRANTED)).toBe("");
  expect(shown(undefined)).toBe("");
});

test("that it is not known whether money commands are held is said, beside what was known before", () => {
  const silence = new NoAnswerError("no answer");
  expect(shown(undefined, silence)).toMatch(/^Whether money commands are sentNo answer.*Try again$/);
  expect(shown(STOPPED, silence)).toMatch(/^Until money commands are sent againNo answer.*Imports open1/);
});
