import { expect, test } from "vitest";
import { jetStreamManager } from "./streams.ts";
import { forwarding, streamOfOwn } from "../testing/streams.ts";

test("the same entry forwarded twice is stored once, and a purged one is stored again", async () => {
  await using at = await streamOfOwn();
  const forward = forwarding(at);
  const manager = await jetStreamManager(at.broker);
  // As ensureStreams would make it, but an operator can purge it.
  await manager.streams.add({ name: at.stream.name, subjects: [...at.stream.subjects] });
  const stored = async (): Promise<number> => (await manager.streams.info(at.stream.name)).state.messages;

  await forward(1);
  await forward(1);
  expect(await stored()).toBe(1);

  await manager.streams.purge(at.stream.name);
  await forward(1);
  expect(await stored()).toBe(1);
});
