import { Money } from "#proto/pamm/common/v1/money.ts";
import type { Pool } from "../postgres/pool.ts";
import { execute, many, sql } from "../postgres/query.ts";
import { kernelDatabase } from "./database.ts";
import { consumeFeed, type ConsumerOptions, type FeedConsumer } from "../feed/consume.ts";
import { feedReader } from "../feed/read.ts";
import { FEED, publishCents, silent } from "./feed.ts";

export const WAIT = { interval: 10 };

/** A service that publishes (till) and a service that consumes (shop), each with its own database. */
export async function tillAndShop() {
  const { pool: till } = await kernelDatabase("till");
  const { pool: shop } = await kernelDatabase(
    "shop",
    [],
    "create table coin (id bigint generated always as identity, cents bigint)",
  );
  const reader = feedReader(till, [FEED]);
  const reads: bigint[] = [];
  return {
    till,
    shop,
    reads,
    publish: (...amounts: bigint[]): Promise<void> => publishCents(till, amounts),
    consume: (over: Partial<ConsumerOptions<typeof Money>> = {}): Promise<FeedConsumer> =>
      consumeFeed<typeof Money>({
        feed: FEED,
        events: [Money],
        pool: shop,
        log: silent,
        async read(request) {
          reads.push(request.afterNumber);
          return reader.read(request);
        },
        async receive(tx, entries) {
          await execute(
            tx,
            sql`insert into coin (cents) select unnest(${entries.map(({ message }) => message.minorUnits)}::bigint[])`,
          );
        },
        ...over,
      }),
  };
}

export const coins = async (pool: Pool) =>
  (await many<{ cents: bigint }>(pool, sql`select cents from coin order by id`)).map(({ cents }) => cents);
