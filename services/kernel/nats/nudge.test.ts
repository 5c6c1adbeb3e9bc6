import { expect, test, vi } from "vitest";
import { testNats } from "#test/support/nats.ts";
import { feedNudger, onNudge } from "./nudge.ts";
import { place, WITHIN } from "../testing/streams.ts";

test("readers hear how far a feed is, and nobody hears of other feeds", async () => {
  await using at = await place();
  const { prefix } = await testNats();
  const heard: bigint[] = [];
  using _reader = onNudge(at.broker, `${prefix}.things`, (number) => void heard.push(number));
  const nudge = feedNudger(at.broker);

  nudge(`${prefix}.things`, 9_007_199_254_740_993n);
  nudge(`${prefix}.others`, 1n);

  await vi.waitFor(() => expect(heard).toEqual([9_007_199_254_740_993n]), WITHIN);
  await at.broker[Symbol.asyncDispose]();
  nudge(`${prefix}.things`, 2n);
});
