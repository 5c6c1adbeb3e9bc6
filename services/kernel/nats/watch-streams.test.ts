import { expect, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { silent as log } from "../testing/calls.ts";
import { forwarding, newStream, WITHIN } from "../testing/streams.ts";
import { jetStreamManager } from "./streams.ts";
import { watchStreams } from "./watch-streams.ts";

test("a service shows the size and limit of its streams while the broker knows them", async () => {
  await using at = await newStream();
  await at.setUp();
  await forwarding(at)(1, 2, 3);
  const { name } = at.stream;
  const watch = () => watchStreams({ broker: at.broker, streams: [at.stream], log });
  const shown = async (metric: string) => (await metricValues(metric))[name];

  await using _first = watch();
  await waitFor(async () => expect(await shown("pamm_stream_bytes")).toBeGreaterThan(3), WITHIN);
  expect(await shown("pamm_stream_max_bytes")).toBe(10_000_000);

  await (await jetStreamManager(at.broker)).streams.delete(name);
  await using _later = watch();
  await waitFor(async () => expect(await shown("pamm_stream_bytes")).toBeUndefined(), WITHIN);
  expect(await shown("pamm_stream_max_bytes")).toBeUndefined();
});
