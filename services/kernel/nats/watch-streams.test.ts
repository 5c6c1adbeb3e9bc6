import { expect, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { silent as log } from "../testing/calls.ts";
import { forwarding, newStream, READER, WITHIN } from "../testing/streams.ts";
import { jetStreamManager } from "./streams.ts";
import { watchStreams } from "./watch-streams.ts";

test("a service shows the size and limit of its streams, and what waits for its own consumer, while the broker knows them", async () => {
  await using at = await newStream();
  await at.setUp();
  await forwarding(at)(1, 2, 3);
  const { name } = at.stream;
  const watch = (service: string) => watchStreams({ broker: at.broker, streams: [at.stream], service, log });
  const shown = async (metric: string, labels = name) => (await metricValues(metric))[labels];

  await using _writer = watch("writer");
  await waitFor(async () => expect(await shown("pamm_stream_messages")).toBe(3), WITHIN);
  expect(await shown("pamm_stream_bytes")).toBeGreaterThan(3);
  expect(await shown("pamm_stream_max_bytes")).toBe(10_000_000);
  expect(await shown("pamm_stream_replicas")).toBe(1);
  expect(await shown("pamm_stream_consumer_pending", `${name},${READER}`)).toBeUndefined();
  await using _reader = watch(READER);
  await waitFor(async () => expect(await shown("pamm_stream_consumer_pending", `${name},${READER}`)).toBe(3), WITHIN);

  await (await jetStreamManager(at.broker)).streams.delete(name);
  await using _later = watch(READER);
  await waitFor(async () => expect(await shown("pamm_stream_bytes")).toBeUndefined(), WITHIN);
  expect(await shown("pamm_stream_consumer_pending", `${name},${READER}`)).toBeUndefined();
});
