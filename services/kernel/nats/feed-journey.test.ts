import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { Money } from "#proto/pamm/common/v1/money.ts";
import { startOwnNats } from "#test/support/nats.ts";
import { callContext } from "../contract/context.ts";
import { consumeFeed, type FeedConsumer } from "../feed/consume.ts";
import { feedReader } from "../feed/read.ts";
import { FEED, publishCents, runRelay, silent } from "../testing/feed.ts";
import { grpcClient } from "../grpc/client.ts";
import { permitAll, testIdentity } from "../testing/identity.ts";
import { serveOverGrpc } from "../grpc/serve.ts";
import type { Pool } from "../postgres/pool.ts";
import { execute, many, sql } from "../postgres/query.ts";
import { kernelDatabase } from "../testing/database.ts";
import { connectNats } from "./connect.ts";
import { jetStreamPublisher } from "./publisher.ts";
import { pullWakeUps } from "./pull.ts";
import { setUpStreams } from "./set-up-streams.ts";
import { requireStreams } from "./streams.ts";
import { onWakeUp, wakeUpSender } from "./wake-up-signal.ts";

const HOST = "127.0.0.1";
const CONSUMER = { name: "shop", subject: "coin.v1.>" };
const STREAM = { name: "COINS", subjects: ["coin.v1.>"], maxBytes: 10_000_000, consumers: [CONSUMER] };
const WITHIN = { interval: 25 };

/** What an operator runs before the services start, and after the broker has lost its files. */
async function setUp(url: string): Promise<void> {
  await using broker = await connectNats({ url, name: "set-up", log: silent });
  await setUpStreams(broker, [STREAM], { replicas: 1 });
}

/** The service that publishes: its database, its relay, and its feeds over gRPC. */
async function startTill(url: string) {
  await using stack = new AsyncDisposableStack();
  const { pool } = await kernelDatabase("till");
  const broker = stack.use(await connectNats({ url, name: "till", log: silent }));
  await requireStreams(broker, [STREAM], "till");
  const implementation = feedReader(pool, [FEED]);
  const services = [
    { contract: FeedServiceService, implementation, permissions: permitAll(FeedServiceService) },
  ] as const;
  const identity = await testIdentity("platform");
  const { port } = stack.use(await serveOverGrpc({ host: HOST, port: 0, services, identity, log: silent }));
  const forward = jetStreamPublisher(broker);
  const relay = { service: "till", pool, forward, signal: wakeUpSender(broker), log: silent };
  stack.use(runRelay(relay));
  const all = stack.move();
  return { pool, port, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The service that consumes: it reads the feed after messages of the broker, and regularly without them. */
async function startShop(url: string, tillPort: number) {
  await using stack = new AsyncDisposableStack();
  const { pool } = await kernelDatabase("shop");
  await execute(pool, sql`create table coin (cents bigint)`);
  const broker = stack.use(await connectNats({ url, name: "shop", log: silent }));
  const identity = await testIdentity("subscription");
  const owner = { contract: FeedServiceService, service: "platform", identity } as const;
  const till = stack.use(grpcClient(`${HOST}:${tillPort}`, owner));
  const options = { feed: FEED, events: [Money], pool, log: silent } as const;
  const consumer: FeedConsumer = stack.use(
    await consumeFeed<typeof Money>({
      ...options,
      read: (request) => till.read(request, callContext({ caller: "shop", withinMs: 2_000 })),
      async receive(tx, entries) {
        const amounts = entries.map(({ message }) => message.minorUnits);
        await execute(tx, sql`insert into coin select unnest(${amounts}::bigint[])`);
      },
    }),
  );
  stack.use(onWakeUp(broker, FEED, consumer.wake));
  await requireStreams(broker, [STREAM], "shop");
  const pull = { stream: STREAM.name, consumer: CONSUMER.name, catchUp: consumer.catchUp, log: silent };
  stack.use(pullWakeUps(broker, pull));
  const all = stack.move();
  return { pool, consumer, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function coins(pool: Pool): Promise<bigint[]> {
  return (await many<{ cents: bigint }>(pool, sql`select cents from coin`)).map(({ cents }) => cents);
}

test("events arrive once and in order while the broker is killed and restarted without its data", async () => {
  await using broker = await startOwnNats();
  await setUp(broker.url);
  await using till = await startTill(broker.url);
  await using shop = await startShop(broker.url, till.port);
  const publish = (...amounts: bigint[]): Promise<void> => publishCents(till.pool, amounts, FEED, "coin.v1.published");
  const expectCoins = (...amounts: bigint[]): Promise<void> =>
    waitFor(async () => expect(await coins(shop.pool)).toEqual(amounts), WITHIN);

  await publish(1n, 2n);
  await expectCoins(1n, 2n);

  await broker.kill();
  await publish(3n);
  await expectCoins(1n, 2n, 3n);
  await broker.restart({ wipe: true });
  await publish(4n);
  await expectCoins(1n, 2n, 3n, 4n);
  await setUp(broker.url);

  await publish(5n);
  await expectCoins(1n, 2n, 3n, 4n, 5n);
  expect(shop.consumer.state()).toEqual({ feed: FEED, stopped: undefined, isRewound: false, number: 5n, lag: 0n });
});
