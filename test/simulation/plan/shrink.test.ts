import { expect, test } from "vitest";
import { makePlan } from "./make-plan.ts";
import { shrink } from "./shrink.ts";

test("a plan is reduced to the commands and faults that it needs to fail", async () => {
  const seed = Array.from({ length: 100 }, (_, index) => index).find(
    (one) => makePlan(one, "safety").faults.length > 3,
  )!;
  const plan = makePlan(seed, "safety");
  const [, needed] = plan.faults;
  const wanted = plan.commands.at(-1);

  const smallest = await shrink(plan, async ({ faults, commands }) => {
    return faults.includes(needed!) && commands.includes(wanted!);
  });

  expect(smallest.faults).toEqual([needed]);
  expect(smallest.commands).toEqual([wanted]);
  expect(smallest.processes).toEqual([{ skewMs: 0 }]);
  expect(smallest.consumers).toHaveLength(1);
});
