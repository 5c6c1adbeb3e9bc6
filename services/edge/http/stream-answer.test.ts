import { expect, onTestFinished, test, vi } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { streamAnswer } from "./stream-answer.ts";
import { logTo } from "../testing/test-edge.ts";

async function* endless() {
  for (;;) yield "a row\n";
}

test("a caller that does not read its answer within two minutes is cut off, and its slot is free", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  let isFree = false;
  const request = { id: "request-1", routeOptions: { url: "/api/v1/masters" } };
  const text = streamAnswer(endless(), {
    request,
    runtime: { log: logTo(lines) },
    leave: () => (isFree = true),
  } as never);
  // As of a caller that reads a little, and not for long enough to be silent.
  text.read(5);
  vi.advanceTimersByTime(119_000);
  text.read(5);
  expect(text.destroyed).toBe(false);
  vi.advanceTimersByTime(2_000);
  vi.useRealTimers();

  await waitFor(() => expect(isFree).toBe(true));
  expect(lines.join()).toContain("answer aborted, connection closed");
});
