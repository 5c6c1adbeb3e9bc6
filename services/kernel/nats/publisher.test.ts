import { expect, test } from "vitest";
import { jetStreamManager } from "./streams.ts";
import { forwarding, newStream } from "../testing/streams.ts";

test("the same entry forwarded twice is stored once, and a purged one is stored again", async () => {
  await using setup = await newStream();
  const forward = forwarding(setup);
  const manager = await jetStreamManager(setup.broker);
  // Like the stream of the set-up, but purging it is allowed.
  await manager.streams.add({ name: setup.stream.name, subjects: [...setup.stream.subjects] });
  const stored = async (): Promise<number> => (await manager.streams.info(setup.stream.name)).state.messages;

  await forward(1);
  await forward(1);
  expect(await stored()).toBe(1);

  await manager.streams.purge(setup.stream.name);
  await forward(1);
  expect(await stored()).toBe(1);
});
