import type { ReadRequest, ReadResponse } from "#proto/pamm/common/v1/feed.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Implementation } from "../../../services/kernel/contract/contract.ts";
import { consumeFeed, type FeedConsumer } from "../../../services/kernel/feed/consume.ts";
import type { FeedReader } from "../../../services/kernel/feed/read.ts";
import type { Log } from "../../../services/kernel/process/log.ts";
import type { Pool } from "../../../services/kernel/postgres/pool.ts";
import { calendarOf } from "../../../services/kernel/values/time-zone.ts";
import { createWakeSignals, type Deps } from "../../../services/subscription/deps.ts";
import { fileAccountMovement } from "../../../services/subscription/events/file-account-movement.ts";
import { FEEDS, subscriptionJobs, subscriptionService } from "../../../services/subscription/service.ts";
import { accountReads } from "../../../services/subscription/store/account-reads.ts";
import { departureCommits } from "../../../services/subscription/store/departure-commits.ts";
import type { Week } from "../../../services/subscription/domain/weeks.ts";
import type { Broker } from "./broker.ts";
import type { SimulatedProcess } from "./process.ts";
import { relayFeeds } from "./relay-feeds.ts";

export type SubscriptionParts = {
  readonly process: SimulatedProcess;
  readonly pool: Pool;
  readonly broker: Broker;
  readonly log: Log;
  /** Woken by a broker that loses messages, or only polling: both must end with the same rows. */
  readonly arrival: "pushed" | "polled";
  readonly read: (request: ReadRequest) => Promise<ReadResponse>;
  /** Clients of other services; undefined when the process only files movements. */
  readonly others: Others | undefined;
};

export type Others = Pick<Deps, "accounts" | "fees" | "platform"> & { readonly week: Week };

/** A process of the subscription service, as other processes can call it. */
export type SubscriptionProcess = {
  readonly process: SimulatedProcess;
  readonly service: Implementation<SubscriptionServiceService>;
  readonly feeds: FeedReader;
};

const VALUED_EVERY_MS = 15 * 60_000;
/** Longer than a simulation. */
const TRANSFERS_KEPT_MS = 180 * 24 * 3_600_000;

/** The counterpart of services/subscription/main.ts; undefined when it only files movements and serves no calls. */
export async function startSubscriptionProcess(parts: SubscriptionParts): Promise<SubscriptionProcess | undefined> {
  const { process, pool, log, arrival, read, others } = parts;
  const wakeSignals = createWakeSignals();
  const now = (): Date => new Date();
  const rules = { adoptsCharge: () => false, agentCommission: "own_capital" } as const;
  const consumer = await consumeFeed({
    ...fileAccountMovement({ log, now, wakeSignals, ...rules }),
    pool,
    read,
    log,
  });
  if (arrival === "pushed") subscribe(parts, consumer);
  if (others === undefined) return undefined;
  const movementLag = (): bigint => consumer.state().lag;
  const isPlatformRewound = (): boolean => consumer.state().isRewound;
  const own = {
    pool,
    accountReads: accountReads(pool),
    departureCommits: departureCommits(pool, now),
    movementLag,
    isPlatformRewound,
    ...rules,
    wakeSignals,
    log,
    now,
  };
  const deps: Deps = {
    ...own,
    ...others,
    isSingleSubscription: false,
    serverDays: calendarOf("Europe/Athens"),
    valuedEveryMs: VALUED_EVERY_MS,
    transfersKeptMs: TRANSFERS_KEPT_MS,
  };
  const { feeds, forwarding } = relayFeeds(parts, "subscription", FEEDS);
  subscriptionJobs(deps, [forwarding]);
  return { process, service: subscriptionService(deps), feeds };
}

/** Delivers the messages of the broker to the process like every other result. */
function subscribe({ process, broker }: SubscriptionParts, consumer: FeedConsumer): void {
  const subscription = broker.subscribe({
    feed: consumer.feed,
    catchUp: (lastNumber) =>
      new Promise((resolve, reject) => {
        process.deliver(undefined, "delivered", () => void consumer.catchUp(lastNumber).then(resolve, reject));
      }),
    wake: (lastNumber) => process.deliver(undefined, "signalled", () => consumer.wake(lastNumber)),
  });
  process.whenCrashed(() => subscription[Symbol.dispose]());
}
