import { v7 as uuidv7 } from "uuid";
import { callContext } from "#kernel/contract/context.ts";
import type { CallContext, Client } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { createLog } from "#kernel/log.ts";
import { usd } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import { testDatabase } from "#test/support/database.ts";
import { AccountKind, type AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import type { ConfigureRequest, FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { LeaveKind, type LeaveRequest } from "#proto/pamm/subscription/v1/subscription.ts";
import { fileMovements } from "../commands/file-movements.ts";
import type { Deps } from "../deps.ts";
import { mirrorOpenFlows } from "../jobs/mirror-open-flows.ts";
import { readGaps } from "../jobs/read-gaps.ts";
import { sendExits } from "../jobs/send-exits.ts";
import { settleAssignments } from "../jobs/settle-assignments.ts";
import { settleExits } from "../jobs/settle-exits.ts";
import { settleGates } from "../jobs/settle-gates.ts";
import { strikeWaitingFlows } from "../jobs/strike-waiting-flows.ts";
import { createBells, subscriptionService } from "../service.ts";
import { platformFake } from "./platform-fake.ts";

const CALL_MS = 9_000;
const MOST_ROUNDS = 60;

/** A subscription service with a database of its own in a small world that tests rule. */
export async function aWorld(options: { readonly isSingleSubscription?: boolean } = {}) {
  const { pool } = await testDatabase("subscription");
  const platform = platformFake();
  const people = peopleFake();
  const configured: ConfigureRequest[] = [];
  const clock = { offsetMs: 0 };
  const deps: Deps = {
    pool,
    platform: platform.client,
    accounts: people.client,
    fees: feeFake(configured),
    bells: createBells(),
    log: createLog({ service: "subscription", level: "silent" }),
    now: () => new Date(Date.now() + clock.offsetMs),
    isSingleSubscription: options.isSingleSubscription ?? false,
  };
  let delivered = 0;
  let key = 0;

  /** What the relay and the consumer do, at once. */
  async function deliver(): Promise<boolean> {
    const batch = platform.feed.slice(delivered);
    if (batch.length === 0) return false;
    await inTransaction(pool, (tx) => fileMovements(tx, deps, batch));
    delivered += batch.length;
    return true;
  }

  /** Delivers and runs every job, again and again, until nothing moves any more. Time passes as the jobs want it. */
  async function settle(): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const before = platform.feed.length;
      const isMore = [
        await deliver(),
        await readGaps(deps),
        await mirrorOpenFlows(deps),
        await sendExits(deps),
        await strikeWaitingFlows(deps),
        await settleAssignments(deps),
        await settleExits(deps),
        await settleGates(deps),
      ];
      if (!isMore.some(Boolean) && platform.feed.length === before) return;
    }
    throw new Error("the world does not come to rest");
  }

  return {
    deps,
    pool,
    platform,
    people,
    configured,
    deliver,
    settle,
    service: subscriptionService(deps),
    pass: (ms: number) => void (clock.offsetMs += ms),
    aMaster(login = people.nextLogin(), minDeposit = 100_00n) {
      people.addMaster(login, minDeposit);
      platform.open(login, AccountRole.MASTER);
      return login;
    },
    anInvestor(balance = 0n, login = people.nextLogin()) {
      people.addInvestor(login);
      platform.open(login, AccountRole.INVESTOR);
      if (balance > 0n) platform.enter(login, { kind: MovementKind.DEPOSIT, amount: balance, key: `funding:deposit:${(key += 1)}` });
      return login;
    },
    /** As funding does it. */
    async deposit(login: string, amount: bigint) {
      const legs = [{ login, kind: MovementKind.DEPOSIT, amount: moneyToProto(usd(amount)) }];
      const request = { key: `funding:deposit:${(key += 1)}`, holder: "", legs, upTo: undefined, enqueue: false };
      return await platform.client.transfer({ ...request, comment: "", sendBefore: undefined }, aCall());
    },
    /** Under the holder's lane, as funding pays out. */
    async payOut(login: string, amount: bigint, { payoutKey, holder }: { payoutKey: string; holder: string }) {
      const legs = [{ login, kind: MovementKind.WITHDRAWAL, amount: moneyToProto(usd(-amount)) }];
      const request = { key: payoutKey, holder, legs, upTo: undefined, enqueue: false };
      return await platform.client.transfer({ ...request, comment: "", sendBefore: undefined }, aCall());
    },
    /** Holds the lane and makes the request for Leave that follows from it. */
    async askToLeave(login: string, requested: bigint, number = 1, intent = `funding:withdrawal:${login}`) {
      const holder = `${intent}:${number}`;
      const held = await platform.client.hold({ login, holder }, aCall());
      const request: LeaveRequest = {
        key: intent,
        try: number,
        investorLogin: login,
        kind: LeaveKind.WITHDRAWAL,
        requested: moneyToProto(usd(requested)),
        heldBalance: held.balance,
        heldLogNumber: held.logNumber,
        payoutKey: `${intent}:out`,
      };
      return { request, holder, release: () => platform.client.release({ login, holder }, aCall()) };
    },
    async subscribed(masterLogin: string, balance: bigint) {
      const investorLogin = this.anInvestor(balance);
      const { subscription } = await this.service.assign(anAssignment({ masterLogin, investorLogin }), aCall());
      await settle();
      return { investorLogin, id: subscription!.id };
    },
  };
}

export type World = Awaited<ReturnType<typeof aWorld>>;

export function aCall(facts: { readonly commandId?: string; readonly withinMs?: number } = {}): CallContext {
  return callContext({ caller: "test", withinMs: facts.withinMs ?? CALL_MS, commandId: facts.commandId ?? uuidv7() });
}

export function anAssignment(facts: { readonly masterLogin: string; readonly investorLogin: string }) {
  return { feeRatePpm: 300_000, feeEnabled: true, ...facts };
}

function peopleFake() {
  const masters = new Map<string, { id: bigint; minDeposit: bigint }>();
  const investors = new Map<string, { id: bigint }>();
  let made = 0n;
  const nameOf = (login: string) => `Name of ${login}`;
  const refuse = (code: string) => new Refusal({ code, status: "not_found", message: code });
  const client = {
    async findMaster({ login }: { login: string }) {
      const master = masters.get(login);
      if (master === undefined) throw refuse("master_not_found");
      const { id, minDeposit } = master;
      const rest = { strategyName: undefined, strategy: undefined, paymentAccountLogin: "1", investorsCount: 0n };
      return { id, login, name: nameOf(login), minDeposit: moneyToProto(usd(minDeposit)), createdAt: undefined, ...rest };
    },
    async findInvestor({ login }: { login: string }) {
      const investor = investors.get(login);
      if (investor === undefined) throw refuse("investor_not_found");
      return { id: investor.id, login, name: nameOf(login), createdAt: undefined };
    },
    async findAccounts({ logins }: { logins: string[] }) {
      const known = logins.filter((login) => investors.has(login));
      const kind = AccountKind.INVESTOR;
      return { accounts: known.map((login) => ({ login, kind, id: investors.get(login)!.id, name: nameOf(login) })) };
    },
  };
  return {
    // Nothing else of the contract is ever asked; a call would fail loudly.
    client: client as unknown as Client<AccountServiceService>,
    nextLogin: () => String(3_000_000n + (made += 1n)),
    addMaster: (login: string, minDeposit: bigint) => void masters.set(login, { id: (made += 1n), minDeposit }),
    addInvestor: (login: string) => void investors.set(login, { id: (made += 1n) }),
  };
}

function feeFake(configured: ConfigureRequest[]): Client<FeeServiceService> {
  const client = {
    async configure(request: ConfigureRequest) {
      if (!configured.some(({ key }) => key === request.key)) configured.push(request);
      const { key: _key, ...rest } = request;
      return { ...rest, createdAt: request.effectiveSince, updatedAt: request.effectiveSince };
    },
  };
  return client as unknown as Client<FeeServiceService>;
}
