import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { testNats } from "#test/support/nats.ts";
import { newStream, WITHIN } from "../testing/streams.ts";
import { onWakeUp, signalReaders } from "./wake-up-signal.ts";

test("a signal contains the last number of its feed, and wakes only the readers of this feed", async () => {
  await using setup = await newStream();
  const { prefix } = await testNats();
  const numbers: bigint[] = [];
  using _reader = onWakeUp(setup.broker, `${prefix}.things`, (number) => void numbers.push(number));
  const signal = signalReaders(setup.broker);

  signal(`${prefix}.things`, 9_007_199_254_740_993n);
  signal(`${prefix}.others`, 1n);

  await waitFor(() => expect(numbers).toEqual([9_007_199_254_740_993n]), WITHIN);
  await setup.broker[Symbol.asyncDispose]();
  signal(`${prefix}.things`, 2n);
});
