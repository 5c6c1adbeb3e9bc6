import { expect, test } from "vitest";
import { endOfTurn } from "./end-of-turn.ts";

test("what waits for the end of one turn goes on together, before any event of the next turn", async () => {
  const seen: string[] = [];
  const wait = async (name: string) => {
    await endOfTurn();
    seen.push(name);
    queueMicrotask(() => seen.push(`after ${name}`));
  };
  const waiting = [wait("one"), Promise.resolve().then(() => wait("two"))];
  setImmediate(() => seen.push("next"));
  await Promise.all(waiting);
  await new Promise(setImmediate);

  expect(seen).toEqual(["one", "two", "after one", "after two", "next"]);
});

test("a wait that begins after the end of a turn is for the next one", async () => {
  const first = endOfTurn();
  await first;

  expect(endOfTurn()).not.toBe(first);
  await endOfTurn();
});
