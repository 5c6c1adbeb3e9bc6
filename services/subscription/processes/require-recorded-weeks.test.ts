import { expect, test } from "vitest";
import { DAY_MS, HOUR_MS, SECOND_MS } from "#kernel/values/duration.ts";
import { areSameWeeks } from "../domain/weeks.ts";
import { settle, subscribed } from "../testing/settle.ts";
import { aCall, aMaster, aWorld } from "../testing/world.ts";
import { requireRecordedWeeks } from "./require-recorded-weeks.ts";

const ANCHOR = new Date("2025-01-04T00:00:00Z");
const WEEKS = { anchor: ANCHOR, periodMs: 7 * DAY_MS };
const SHORT = { anchor: ANCHOR, periodMs: 20 * SECOND_MS };
const SHIFTED = { anchor: new Date(ANCHOR.getTime() + HOUR_MS), periodMs: 7 * DAY_MS };

test("weeks are the same when they have the same cut-offs", () => {
  expect(areSameWeeks(WEEKS, { ...WEEKS, anchor: new Date(ANCHOR.getTime() - 70 * DAY_MS) })).toBe(true);
  expect([areSameWeeks(WEEKS, SHORT), areSameWeeks(WEEKS, SHIFTED)]).toEqual([false, false]);
});

test("a start with other fee weeks is refused while a Master has Investors, and one line says what to do", async () => {
  const world = await aWorld({ week: WEEKS });
  const { pool } = world.deps;
  const start = async (week: typeof WEEKS) => {
    await requireRecordedWeeks(pool, week);
  };
  await start(SHORT);
  await start(WEEKS);
  const pair = await subscribed(world, aMaster(world), 500_00n);
  await settle(world);

  const line =
    /^PAMM_FEE_PERIOD differs from .* \(1\): set PAMM_FEE_PERIOD=P7D and PAMM_FEE_ANCHOR=2025-01-04T00:00:00.000Z, or .*$/;
  await expect(start(SHORT)).rejects.toThrow(line);
  await expect(start(SHIFTED)).rejects.toThrow(/^PAMM_FEE_ANCHOR differs from/);
  await start({ ...WEEKS, anchor: new Date(ANCHOR.getTime() + 7 * DAY_MS) });

  await world.service.unassign(pair, aCall());
  await settle(world);
  await start(SHORT);
  await expect(start(WEEKS)).resolves.toBeUndefined();
});
