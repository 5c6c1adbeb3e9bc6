import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { register } from "prom-client";
import { expect, inject, test } from "vitest";
import { callContext } from "#kernel/contract/context.ts";
import type { Client } from "#kernel/contract/contract.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import type { Log } from "#kernel/process/log.ts";
import { connectNats } from "#kernel/nats/connect.ts";
import { natsClient } from "#kernel/nats/client.ts";
import { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { AccountMoved, AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { PlatformServiceService, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { identityVariables, testIdentity } from "#kernel/testing/identity.ts";
import { owningClient } from "#test/support/owning-client.ts";
import { testDatabase, type TestLifetime } from "#test/support/database.ts";
import {
  ALL_RIGHTS,
  MANAGER_RIGHT,
  testSimulator,
  type TestSimulator,
  type TestSimulatorOptions,
} from "#test/support/simulator.ts";
import { startPlatform } from "./start.ts";
import { controlOf } from "./testing/control.ts";
import { aDeposit } from "./testing/requests.ts";
import { aCall, eventually, silentLog } from "./testing/world.ts";
import { isRecorded, recordedTransfer } from "./testing/recorded-transfer.ts";

type Env = Readonly<Record<string, string>>;
/** No service listens there: a check cannot run without them, the service can. */
const OWNERS_AWAY = {
  ACCOUNT_GRPC_URL: "127.0.0.1:1",
  FEE_GRPC_URL: "127.0.0.1:1",
  FUNDING_GRPC_URL: "127.0.0.1:1",
  SUBSCRIPTION_GRPC_URL: "127.0.0.1:1",
};

async function start(lifetime: TestLifetime, env: Env, log: Log = silentLog): Promise<{ readonly grpcPort: number }> {
  const stack = new AsyncDisposableStack();
  lifetime.onTestFinished(() => stack.disposeAsync());
  const stopping = new AbortController();
  const watch = (_task: string, loop: Promise<unknown>): void => {
    loop.catch(() => undefined);
  };
  return startPlatform({
    stack,
    env,
    log,
    signal: stopping.signal,
    watch,
    end: () => undefined,
    isDraining: () => false,
    draining: new AbortController().signal,
  });
}

async function anEnvironment(
  lifetime: TestLifetime,
  options: TestSimulatorOptions = {},
): Promise<{ env: Env; simulator: TestSimulator }> {
  const database = await testDatabase("platform", lifetime);
  const simulator = await testSimulator({ log: silentLog, ...options });
  lifetime.onTestFinished(() => simulator[Symbol.asyncDispose]());
  const env = {
    ...(await identityVariables("platform")),
    PLATFORM_DATABASE_URL: database.url,
    ...OWNERS_AWAY,
    NATS_URL: inject("natsUrl"),
    MT5_URL: simulator.url,
    MT5_CA_FILE: simulator.caFile,
    MT5_LOGIN: String(simulator.managerLogin),
    MT5_PASSWORD: simulator.managerPassword,
    MT5_TIME_ZONE: "Europe/Athens",
    PAMM_QUIET_PERIOD: "PT5S",
    PAMM_REHEARSAL: "true",
    MT5_READ_INTERVAL: "PT0.2S",
  };
  return { env, simulator };
}

/** What changes something on the platform. */
const COMMAND = /^trade\/balance$|\/(?:add|update|delete|change_password)$/;

const ACCOUNT = {
  key: "account:1",
  role: AccountRole.INVESTOR,
  group: "pamm\\investor",
  firstName: "Ann",
  lastName: "Test",
  email: "ann@example.com",
  leverage: 100,
  mainPassword: "Main#2026pw",
  investorPassword: "View#2026pw",
};

test.concurrent("a start sends no command, a service requests nothing of another one, and gRPC, NATS and the feed show the same transfer", async (context) => {
  const { env, simulator } = await anEnvironment(context);
  const control = controlOf(simulator.controlUrl);
  await control.addAccount({ group: "pamm\\investor", name: "Ann", balance: "5.00" });
  const { grpcPort } = await start(context, env);
  const { calls } = await control.stats();
  expect(calls).toMatchObject({ "user/get": expect.any(Number) });
  expect(Object.keys(calls).filter((path) => COMMAND.test(path))).toEqual([]);

  const address = `127.0.0.1:${grpcPort}`;
  using owners = await owningClient(address);
  const { login } = await owners.createAccount(ACCOUNT, aCall(30_000));
  const target = { contract: PlatformServiceService, service: "platform" } as const;
  using fee = grpcClient(address, { ...target, identity: await testIdentity("fee") });
  using subscription = grpcClient(address, { ...target, identity: await testIdentity("subscription") });
  const deposit = aDeposit(login, 1_000_00n);
  const lock = { login, lockOwner: "funding:1", withdrawal: undefined };
  // The name that a caller writes into its request does not count.
  const call = callContext({ caller: "funding", withinMs: 10_000 });
  const before = await refusedCalls();

  for (const refused of [
    fee.transfer(deposit, call),
    fee.transfer({ ...deposit, key: "fee:1" }, call),
    fee.transferBatch({ requests: [deposit] }, call),
    subscription.transferBatch({ requests: [deposit] }, call),
    subscription.hold(lock, call),
    subscription.release(lock, call),
  ]) {
    await expect(refused).rejects.toMatchObject({ code: "not_permitted", outcome: "not_executed" });
  }

  expect((await refusedCalls()) - before).toBe(6);
  expect(await isRecorded(owners, deposit.key)).toBe(false);
  expect(await owners.transfer(deposit, aCall())).toMatchObject({ state: TransferState.APPLIED });
  const own = { ...lock, lockOwner: "withdrawal:1:1" };
  await owners.hold(own, aCall());
  await owners.release(own, aCall());

  const reader = {
    contract: FeedServiceService,
    service: "platform",
    identity: await testIdentity("subscription"),
  } as const;
  using feeds = grpcClient(address, reader);
  await using broker = await connectNats({ url: env["NATS_URL"]!, name: "test", log: silentLog });
  const overNats: Client<PlatformServiceService> = natsClient(broker, {
    service: "platform",
    contract: PlatformServiceService,
    caller: "test",
  });

  const pushed: Uint8Array[] = [];
  const pushing = broker.connection.subscribe(`mirror.v1.moved.${login}`, {
    callback: (_error, message) => pushed.push(message.data),
  });
  const request = aDeposit(login, 12_34n);
  const result = await owners.transfer(request, aCall());
  expect(result.state).toBe(TransferState.APPLIED);
  expect(await recordedTransfer(owners, request.key)).toEqual(result);
  expect(await recordedTransfer(overNats, request.key)).toEqual(result);
  await expect(overNats.transfer(aDeposit(login, 1n), aCall())).rejects.toMatchObject({ code: "not_permitted" });

  const page = await eventually(
    () => feeds.read({ feed: "platform.movements", afterNumber: 0n, afterId: 0n, limit: 10 }, aCall()),
    ({ entries }) => entries.length === 3,
  );
  const published = AccountMoved.decode(page.entries[2]!.payload);
  expect(page.entries[2]).toMatchObject({ number: 3n, type: AccountMoved.$type });
  expect(published).toMatchObject({
    login,
    role: AccountRole.INVESTOR,
    number: 2n,
    kind: MovementKind.DEPOSIT,
    key: request.key,
    transferId: result.transferId,
    amount: { currencyCode: "USD", minorUnits: 12_34n },
    dealId: result.legs[0]!.dealId,
  });
  await eventually(
    () => Promise.resolve(pushed.map((bytes) => AccountMoved.decode(bytes).number)),
    (numbers) => numbers.includes(2n),
  );
  pushing.unsubscribe();
  expect(await isRecorded(overNats, "none")).toBe(false);
});

async function refusedCalls(): Promise<number> {
  const metric = await register.getSingleMetric("pamm_calls_refused_total")?.get();
  return (metric?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}

test.concurrent("a manager without a needed right ends the start with what is missing", async (context) => {
  const managerRights = ALL_RIGHTS.filter((right) => right !== MANAGER_RIGHT.readTrades);
  const { env, simulator } = await anEnvironment(context, { managerRights });
  const account = { group: "pamm\\investor", name: "Ann", balance: "5.00" };
  await fetch(`${simulator.controlUrl}/control/accounts`, {
    method: "POST",
    body: JSON.stringify(account),
    headers: { "content-type": "application/json" },
  });
  await expect(start(context, env)).rejects.toMatchObject({
    name: "StartupError",
    message: `the manager ${simulator.managerLogin} cannot be used, these are missing:\n- the manager's right to orders, deals and positions (deal/get_total is refused)`,
  });
});

test.concurrent("the service starts while the platform is away, says so, and moves money when the platform is back", async (context) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "platform-away-"));
  const before = await anEnvironment(context, { stateDir: folder.path });
  await before.simulator[Symbol.asyncDispose]();
  const logged: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void logged.push(message) };
  const { grpcPort } = await start(context, before.env, log);
  using owners = await owningClient(`127.0.0.1:${grpcPort}`);
  expect(logged).toContain("trading platform away, service starts without it and signs in when it is back");
  expect(await owners.getStatus({}, aCall())).toMatchObject({ reachable: false, sessions: 0 });

  const port = Number(new URL(before.env["MT5_URL"]!).port);
  await using simulator = await testSimulator({ log: silentLog, stateDir: folder.path, port });
  void simulator;
  await eventually(
    () => owners.getStatus({}, aCall()),
    ({ reachable }) => reachable,
  );
  const { login } = await owners.createAccount(ACCOUNT, aCall(30_000));
  expect(await owners.transfer(aDeposit(login, 5_00n), aCall())).toMatchObject({ state: TransferState.APPLIED });
});

test.concurrent("a failed start reports its reason in one message without a secret", async (context) => {
  const { env } = await anEnvironment(context);
  using folder = mkdtempDisposableSync(join(tmpdir(), "no-certificates-"));
  const caFile = join(folder.path, "ca.pem");
  writeFileSync(caFile, "not a certificate");
  const cases: [Env, RegExp][] = [
    [{ ...env, MT5_PASSWORD: "Wrong#1005pw" }, /no session with .*check MT5_LOGIN and MT5_PASSWORD/],
    [{ ...env, MT5_URL: "https://mt5.invalid:443" }, /no session with .*check MT5_URL/],
    [{ ...env, MT5_CA_FILE: "/nowhere/ca.pem" }, /MT5_CA_FILE names a file that cannot be read \(ENOENT\)/],
    [{ ...env, MT5_CA_FILE: caFile }, /check MT5_URL, MT5_CA_FILE/],
    [{ ...env, MT5_TLS_NAME: "mt5.example" }, /altnames.*check MT5_URL, MT5_CA_FILE, MT5_TLS_NAME/],
    [{ ...env, MT5_TLS_FINGERPRINT: "12:34" }, /MT5_TLS_FINGERPRINT is not valid: expected the SHA-256 fingerprint/],
    [
      { ...env, MT5_TLS_FINGERPRINT: "ab".repeat(32) },
      /another certificate than the pinned one, with the SHA-256 fingerprint [0-9A-F]{64}/,
    ],
    [
      { ...env, MT5_COMMAND_TIMEOUT: "PT31S", MT5_PING_INTERVAL: "PT0S", MT5_READ_INTERVAL: "PT0S" },
      /MT5_COMMAND_TIMEOUT .*from PT1S to PT30S(.|\n)*MT5_PING_INTERVAL .*from PT1S to PT1M(.|\n)*MT5_READ_INTERVAL /,
    ],
    [
      { ...env, MT5_CONNECT_TIMEOUT: "soon", MT5_PROVE_ALIVE_AFTER: "P1D" },
      /MT5_CONNECT_TIMEOUT .*\nMT5_PROVE_ALIVE_AFTER /,
    ],
    [
      { ...env, MT5_MAX_LEVERAGE: "5001", MT5_GROUP_MAX_LEVERAGE: "pamm\\master=0" },
      /MT5_MAX_LEVERAGE .*1 to 5000(.|\n)*MT5_GROUP_MAX_LEVERAGE .*GROUP=LEVERAGE/,
    ],
    [{ ...env, MT5_GROUP_MAX_LEVERAGE: "pamm\\mastre=100" }, /no account is created: pamm\\mastre\./],
    [
      { ...env, MT5_DEAL_TYPES: "result=5,mirror=6,gift=2", MT5_MAX_LEVERAGE: "0" },
      /MT5_MAX_LEVERAGE (.|\n)*MT5_DEAL_TYPES .*KIND=TYPE.*fee_debit.*types: 2, 4, 5/,
    ],
    [{ ...env, PAMM_REHEARSAL: "false" }, /PAMM_QUIET_PERIOD is below PT200S/],
    [{ ...env, MT5_LOGIN_RANGE: "9-1", MT5_TIME_ZONE: "Mars/Olympus" }, /MT5_LOGIN_RANGE .*\nMT5_TIME_ZONE /],
  ];
  const starts = cases.map(([wrong]) =>
    start(context, wrong).then(
      () => new Error("the service started"),
      (reason: unknown) => reason,
    ),
  );
  for (const [index, error] of (await Promise.all(starts)).entries()) {
    const line = cases[index]![1];
    expect(error).toMatchObject({ name: "StartupError", message: expect.stringMatching(line) as string });
    expect((error as Error).message).not.toContain("Wrong#1005pw");
  }
});
