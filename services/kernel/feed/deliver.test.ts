import { expect, test, vi } from "vitest";
import { execute, sql } from "../postgres/query.ts";
import { coins, tillAndShop, WAIT } from "../testing/till-and-shop.ts";

test("entries that a broker brings are filed before they may be acked, without reading", async () => {
  const { shop, tellNumbered, entries, follow, reads } = await tillAndShop();
  await using consumer = await follow({ arrival: "pushed" });
  await vi.waitFor(() => expect(reads).toEqual([0n]), WAIT);
  await tellNumbered(1n, 2n, 3n);
  const [first, second, third] = await entries();
  if (first === undefined || second === undefined || third === undefined) throw new Error("not told");

  await consumer.deliver([second, first]);
  expect(await coins(shop)).toEqual([1n, 2n]);
  await consumer.deliver([second, third]);
  expect(await coins(shop)).toEqual([1n, 2n, 3n]);
  expect(reads).toEqual([0n]);
});

test("what a broker lost is read before what it brought is filed", async () => {
  const { shop, tellNumbered, entries, follow } = await tillAndShop();
  await using consumer = await follow({ arrival: "pushed" });
  await tellNumbered(1n, 2n, 3n, 4n);

  await consumer.deliver((await entries()).slice(2));

  expect(await coins(shop)).toEqual([1n, 2n, 3n, 4n]);
});

test("a delivery is refused while the gap before it cannot be read", async () => {
  const { shop, tellNumbered, entries, follow } = await tillAndShop();
  const read = async () => Promise.reject(new Error("till cannot be reached"));
  await using consumer = await follow({ arrival: "pushed", read });
  await tellNumbered(1n, 2n);
  const [first, second] = await entries();
  if (first === undefined || second === undefined) throw new Error("not told");

  await expect(consumer.deliver([second])).rejects.toThrow("cannot be reached");
  expect(await coins(shop)).toEqual([]);
  await consumer.deliver([first, second]);
  expect(await coins(shop)).toEqual([1n, 2n]);
});

test("a broker that is silent about what is there is read past within two heartbeats", async () => {
  const { shop, tellNumbered, follow, reads } = await tillAndShop();
  await using consumer = await follow({ arrival: "pushed" });
  await vi.waitFor(() => expect(reads).toEqual([0n]), WAIT);
  await tellNumbered(1n, 2n);

  consumer.wake(2n);
  expect(consumer.state().lag).toBe(2n);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await coins(shop)).toEqual([]);
  consumer.wake(2n);

  await vi.waitFor(async () => expect(await coins(shop)).toEqual([1n, 2n]), { timeout: 1_000, interval: 10 });
});

test("an owner whose database was restored stops the feed instead of mixing two histories", async () => {
  const { till, shop, tellNumbered, entries, follow } = await tillAndShop();
  await using consumer = await follow({ arrival: "pushed" });
  await tellNumbered(1n, 2n, 3n);
  await consumer.deliver(await entries());
  await execute(till, sql`delete from outbox where number > 1`);
  await tellNumbered(20n, 30n, 40n);

  await expect(consumer.deliver(await entries())).rejects.toThrow("is stopped: rewound");

  expect(await coins(shop)).toEqual([1n, 2n, 3n]);
});

test("an owner that is behind its reader is found out by its heartbeat", async () => {
  const { till, tellNumbered, entries, follow } = await tillAndShop();
  await using consumer = await follow({ arrival: "pushed" });
  await tellNumbered(1n, 2n, 3n);
  await consumer.deliver(await entries());
  await execute(till, sql`delete from outbox where number > 1`);

  consumer.wake(1n);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  consumer.wake(1n);

  await vi.waitFor(() => expect(consumer.state().stopped).toContain("rewound"), WAIT);
});
