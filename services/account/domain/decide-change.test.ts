import { expect, test } from "vitest";
import { decideChange, type MasterChange } from "./master.ts";

const NOTHING: MasterChange = {
  name: undefined,
  strategyName: undefined,
  strategy: undefined,
  minDeposit: undefined,
  acceptingInvestors: undefined,
};

test("an archived Master refuses each change, and one that is being closed refuses to accept Investors again", () => {
  const renamed = { ...NOTHING, name: "Beta" };
  const accepting = { ...NOTHING, acceptingInvestors: true };
  const refused = (state: string) =>
    expect.objectContaining({ code: "master_closed", outcome: "not_executed", details: { state } });

  for (const change of [renamed, accepting]) {
    expect(() => decideChange("3000001", change, undefined)).not.toThrow();
    expect(() => decideChange("3000001", change, "archived")).toThrow(refused("archived"));
  }
  expect(() => decideChange("3000001", renamed, "closing")).not.toThrow();
  expect(() => decideChange("3000001", { ...NOTHING, acceptingInvestors: false }, "closing")).not.toThrow();
  expect(() => decideChange("3000001", accepting, "closing")).toThrow(refused("closing"));
});
