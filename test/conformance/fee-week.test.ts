import { expect, test } from "vitest";
import { withinOneWeek } from "./fee-week.ts";
import { Differs, NotTested } from "./outcome.ts";
import type { World } from "./world.ts";

/** A deployment with these payments to the Master. */
function worldWith(...keys: readonly string[]): World {
  const items = keys.map((key) => ({ cashflow_unique_key: key }));
  return { get: async () => ({ status: 200, body: { items } }) } as unknown as World;
}

const differs = async (): Promise<never> => {
  throw new Differs("0.00 and not 30.00");
};

test("what is observed while a fee week ends is not decided, right or wrong", async () => {
  const ended = worldWith("PF:1:2:3:W", "PF:1:2:4:UA7");
  await expect(withinOneWeek(ended, "2", differs)).rejects.toThrow(NotTested);
  await expect(withinOneWeek(ended, "2", async () => "right")).rejects.toThrow(NotTested);
});

test("what is observed within one week is decided", async () => {
  const within = worldWith("PF:1:2:3:WD0198c0de-0000-7000-8000-000000000001", "PF:1:2:4:UA7");
  await expect(withinOneWeek(within, "2", differs)).rejects.toThrow(Differs);
  expect(await withinOneWeek(within, "2", async () => "right")).toBe("right");
});
