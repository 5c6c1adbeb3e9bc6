import { expect, test, vi } from "vitest";
import { answerWithin, succeedsWithin } from "./answer-within.ts";

const NEVER = new Promise<never>(() => undefined);

test("an answer in time is returned, and its failure thrown", async () => {
  expect(await answerWithin(Promise.resolve("now"), 1_000, "late")).toBe("now");
  await expect(answerWithin(Promise.reject(new Error("no")), 1_000, "late")).rejects.toThrow("no");
});

test("without an answer in time the other one is returned, and a later failure is ignored", async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  expect(await answerWithin(promise, 5, "late")).toBe("late");
  const unhandled = vi.fn();
  process.once("unhandledRejection", unhandled);
  reject(new Error("too late"));
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.off("unhandledRejection", unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

test("work succeeds when it ends well in time", async () => {
  const outcomes = [Promise.resolve(7), Promise.reject(new Error("no")), NEVER].map((work) => succeedsWithin(work, 5));
  expect(await Promise.all(outcomes)).toEqual([true, false, false]);
});

test("no timer is left behind", async () => {
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  await answerWithin(Promise.resolve(), 60_000, undefined);
  expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout")).toHaveLength(before);
});
