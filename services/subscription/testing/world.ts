import { v7 as uuidv7 } from "uuid";
import { callContext } from "#kernel/contract/context.ts";
import type { CallContext, Implementation } from "#kernel/contract/contract.ts";
import { DAY_MS, HOUR_MS } from "#kernel/values/duration.ts";
import { createLog } from "#kernel/process/log.ts";
import { calendarOf } from "#kernel/values/time-zone.ts";
import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { type TestDatabase, testDatabase } from "#test/support/database.ts";
import type { ConfigureRequest } from "#proto/pamm/fee/v1/fee.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { AssignRequest, SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { createWakeSignals, type Deps } from "../deps.ts";
import { subscriptionService } from "../service.ts";
import { markSettled } from "../store/settled-database.ts";
import { departureCommits } from "../store/departure-commits.ts";
import { accountReads } from "../store/account-reads.ts";
import type { Week } from "../domain/weeks.ts";
import { type FeeFake, feeFake } from "./fee-fake.ts";
import { type AccountFake, accountFake } from "./account-fake.ts";
import { type PlatformFake, platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { enter, openAccount } from "#test/support/platform-fake/ledger.ts";
import { adoptsNothing, parseAdoptionRule } from "../domain/quarantine.ts";

/** A subscription service with its own database and stand-ins of the other services, controlled by tests. */
export type World = {
  readonly deps: Deps;
  readonly service: Implementation<SubscriptionServiceService>;
  readonly platform: PlatformFake;
  readonly accounts: AccountFake;
  readonly fees: FeeFake;
  /** The fee configurations that fee has received. */
  readonly configured: ConfigureRequest[];
  readonly state: { clockOffsetMs: number; delivered: number; keys: number; lag: bigint; isPlatformRewound: boolean };
};

/** About the wait budget of a money request: 10 s, less what the edge and the caller in between reserve. */
const CALL_MS = 9_000;

/** A week that began some days ago and lasts longer than any test. */
function aWeek(): Week {
  return { anchor: new Date(Date.now() - 3 * DAY_MS), periodMs: 7 * DAY_MS };
}

export async function aWorld(
  options: Partial<Pick<Deps, "isSingleSubscription" | "agentCommission" | "week">> & {
    readonly adoptCharges?: string;
    readonly database?: TestDatabase;
  } = {},
): Promise<World> {
  const { pool } = options.database ?? (await testDatabase("subscription"));
  await inTransaction(pool, async (tx) => markSettled(tx, await readDatabase(tx)));
  const state = { clockOffsetMs: 0, delivered: 0, keys: 0, lag: 0n, isPlatformRewound: false };
  const now = (): Date => new Date(Date.now() + state.clockOffsetMs);
  const platform = platformFake({ now });
  const accounts = accountFake();
  const fees = feeFake({ pool, platform });
  const deps: Deps = {
    pool,
    platform: platform.client,
    accounts: accounts.client,
    fees: fees.client,
    accountReads: accountReads(pool),
    departureCommits: departureCommits(pool, now),
    movementLag: () => state.lag,
    isPlatformRewound: () => state.isPlatformRewound,
    wakeSignals: createWakeSignals(),
    log: createLog({ service: "subscription", level: "silent" }),
    now,
    isSingleSubscription: options.isSingleSubscription ?? false,
    agentCommission: options.agentCommission ?? "own_capital",
    week: options.week ?? aWeek(),
    serverDays: calendarOf("Europe/Athens"),
    valuedEveryMs: HOUR_MS,
    adoptsCharge: parseAdoptionRule(options.adoptCharges ?? "") ?? adoptsNothing,
    transfersKeptMs: 180 * DAY_MS,
  };
  const service = subscriptionService(deps);
  return { deps, service, platform, accounts, fees, configured: fees.configured, state };
}

/** The world as a replica sees it to which the fee service answers otherwise. */
export function withFees(world: World, fees: Partial<Deps["fees"]>): World {
  const deps = { ...world.deps, fees: { ...world.deps.fees, ...fees } };
  return { ...world, deps, service: subscriptionService(deps) };
}

/** Until when work waits. */
const WAITS = {
  subscription: ["next_try_at"],
  departure: ["next_try_at", "queue_until", "ready_at"],
  exit_transfer: ["next_try_at"],
  fee_decision: ["next_try_at"],
  investor_account: ["posting_next_at"],
  master_pool: ["mirror", "mark", "margin", "price", "archived", "value"].map((wait) => `${wait}_next_at`),
  mirror: ["next_try_at"],
  open_week: ["next_try_at"],
};

/** Advances the clock of the service, and that of its database for all work that waits. */
export async function passTime({ state, deps: { pool } }: World, ms: number): Promise<void> {
  state.clockOffsetMs += ms;
  const statements = Object.entries(WAITS).map(([table, columns]) => {
    const changes = columns.map((column) => `${column} = ${column} - ${ms} * interval '1 millisecond'`);
    return `update ${table} set ${changes.join(", ")}`;
  });
  // In one round trip.
  await pool.query(statements.join(";"));
}

/** With an opening balance it is an account that existed before the service. */
export function aMaster({ accounts, platform }: World, minDeposit = 100_00n, opening = 0n): string {
  const login = accounts.nextLogin();
  accounts.addMaster(login, minDeposit);
  openAccount(platform.ledger, login, AccountRole.MASTER, opening);
  return login;
}

export function anInvestor({ accounts, platform }: World, balance = 0n): string {
  const login = accounts.nextLogin();
  accounts.addInvestor(login);
  openAccount(platform.ledger, login, AccountRole.INVESTOR);
  if (balance > 0n) {
    enter(platform.ledger, login, { kind: MovementKind.DEPOSIT, amount: balance, key: `first:${login}` });
  }
  return login;
}

export function anAssignment(pair: Pick<AssignRequest, "masterLogin" | "investorLogin">): AssignRequest {
  return { feeRatePpm: 300_000, feeEnabled: true, ...pair };
}

export function aCall(facts: { readonly commandId?: string; readonly withinMs?: number } = {}): CallContext {
  const { commandId = uuidv7(), withinMs = CALL_MS } = facts;
  return callContext({ caller: "test", withinMs, commandId });
}
