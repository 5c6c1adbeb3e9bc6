import assert from "node:assert/strict";
import type { Client } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import { type AccountMoved, AccountRole, MovementKind, type Trade } from "#proto/pamm/platform/v1/movement.ts";
import {
  type PlatformServiceService,
  type TransferRequest,
  type TransferResult,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";

type Account = {
  readonly login: string;
  readonly role: AccountRole;
  readonly log: AccountMoved[];
  /** Open positions of the trader. */
  positions: number;
  /** False while a deal is on its way. */
  isComplete: boolean;
  holder: string | undefined;
  readonly released: Set<string>;
};

type Transfer = { readonly request: TransferRequest; result: TransferResult };

type Wanted = {
  readonly kind: MovementKind;
  readonly amount: bigint;
  readonly key?: string;
  readonly transferId?: bigint;
  readonly trade?: Trade;
};

/**
 * Platform as its contract describes it, in memory: keys, lanes with tombstones, logs with numbers, one feed. What it
 * does not do by itself is fail; tests tell it how.
 */
export function platformFake() {
  const accounts = new Map<string, Account>();
  const transfers = new Map<string, Transfer>();
  const feed: AccountMoved[] = [];
  const rules = {
    /** Code under which a transfer is refused for good; undefined lets it pass. */
    refuse: (_request: TransferRequest): string | undefined => undefined,
    /** Transfers that stay PENDING until carryOn. */
    delay: (_request: TransferRequest): boolean => false,
    /** The platform cannot be reached. */
    isDown: false,
  };

  function account(login: string): Account {
    const found = accounts.get(login);
    if (found === undefined) throw new Refusal({ code: "login_not_managed", status: "not_found", message: login });
    return found;
  }

  function balance(login: string): bigint {
    return account(login).log.reduce((total, { amount }) => total + (amount?.minorUnits ?? 0n), 0n);
  }

  function enter(login: string, { kind, amount, key = "", transferId = 0n, trade }: Wanted): AccountMoved {
    const { log, role } = account(login);
    const entryId = BigInt(feed.length + 1);
    const moved: AccountMoved = {
      login,
      role,
      number: BigInt(log.length),
      entryId,
      kind,
      key,
      transferId,
      amount: moneyToProto(usd(amount)),
      dealId: kind === MovementKind.OPENING ? 0n : 900_000n + entryId,
      dealAt: new Date(Date.UTC(2026, 0, 1) + feed.length),
      trade,
    };
    log.push(moved);
    feed.push(moved);
    return moved;
  }

  /** Executes what waits, unless a lane or a rule stands in its way. */
  function execute(transfer: Transfer): void {
    const { request } = transfer;
    if (transfer.result.state !== TransferState.PENDING || rules.delay(request)) return;
    const [first] = request.legs;
    assert(first !== undefined);
    const { holder } = account(first.login);
    if (holder !== undefined && holder !== request.holder) return;
    const wanted = first.amount?.minorUnits ?? 0n;
    const code = rules.refuse(request) ?? (balance(first.login) + wanted < 0n ? "insufficient_funds" : undefined);
    if (code !== undefined) {
      transfer.result = { ...transfer.result, state: TransferState.REFUSED, refusalCode: code };
      return;
    }
    const { key } = request;
    const { transferId } = transfer.result;
    const legs = request.legs.map((leg) => {
      const amount = leg.amount?.minorUnits ?? 0n;
      const { dealId, dealAt } = enter(leg.login, { kind: leg.kind, amount, key, transferId });
      return { ...leg, state: TransferState.APPLIED, dealId, reference: "P", appliedAt: dealAt };
    });
    transfer.result = { ...transfer.result, state: TransferState.APPLIED, legs };
  }

  function carryOn(): void {
    for (const transfer of transfers.values()) execute(transfer);
  }

  function reach(): void {
    if (!rules.isDown) return;
    throw new Refusal({ code: "platform_unavailable", status: "unavailable", message: "down", outcome: "not_executed" });
  }

  const client: Client<PlatformServiceService> = {
    async transfer(request) {
      reach();
      let transfer = transfers.get(request.key);
      if (transfer === undefined) {
        if (request.holder !== "" && account(request.legs[0]!.login).holder !== request.holder) throw noLane();
        const pending = { transferId: BigInt(transfers.size + 1), key: request.key, state: TransferState.PENDING };
        transfer = { request, result: { ...pending, refusalCode: "", platformCode: 0, legs: [] } };
        transfers.set(request.key, transfer);
        execute(transfer);
      }
      assert.deepEqual(request.legs, transfer.request.legs, `${request.key} was asked with another content`);
      return transfer.result;
    },
    async getTransfer({ key }) {
      const transfer = transfers.get(key);
      if (transfer === undefined) {
        throw new Refusal({ code: "transfer_not_found", status: "not_found", message: key });
      }
      return transfer.result;
    },
    async hold({ login, holder }) {
      reach();
      const held = account(login);
      if (held.released.has(holder)) throw noLane();
      if (held.holder !== undefined && held.holder !== holder) {
        throw new Refusal({ code: "account_busy", status: "conflict", message: "held", outcome: "not_executed" });
      }
      held.holder = holder;
      const last = held.log.at(-1)!;
      return {
        balance: moneyToProto(usd(balance(login))),
        logNumber: last.number,
        logEntryId: last.entryId,
        openPositions: held.positions,
      };
    },
    async release({ login, holder }) {
      reach();
      const held = account(login);
      held.released.add(holder);
      if (held.holder === holder) held.holder = undefined;
      carryOn();
      return {};
    },
    async readLog({ login, afterNumber, limit }) {
      reach();
      const { log } = account(login);
      const entries = log.filter(({ number }) => number > afterNumber).slice(0, limit);
      return { entries, lastNumber: log.at(-1)!.number };
    },
    async readAccount({ login }) {
      reach();
      const { log, positions, isComplete } = account(login);
      const position = { positionId: 1n, symbol: "EURUSD", volume: 1n, profit: undefined, swap: undefined };
      return {
        balance: moneyToProto(usd(balance(login))),
        logBalance: moneyToProto(usd(balance(login))),
        logNumber: log.at(-1)!.number,
        positions: Array.from({ length: positions }, () => position),
        complete: isComplete,
      };
    },
    async getBalance({ login }) {
      return { balance: moneyToProto(usd(balance(login))) };
    },
    createAccount: notAsked,
    disableAccount: notAsked,
    inspectAccounts: notAsked,
    adoptAccount: notAsked,
    getStatus: notAsked,
  };

  return {
    client,
    feed,
    rules,
    transfers,
    account,
    balance,
    enter,
    carryOn,
    /** Opens an account with the balance that it had before us. */
    open(login: string, role: AccountRole, opening = 0n) {
      const fresh = { login, role, log: [], positions: 0, isComplete: true, holder: undefined, released: new Set<string>() };
      accounts.set(login, fresh);
      enter(login, { kind: MovementKind.OPENING, amount: opening });
    },
  };
}

export type PlatformFake = ReturnType<typeof platformFake>;

function noLane(): Refusal {
  return new Refusal({ code: "no_lane", status: "conflict", message: "released", outcome: "not_executed" });
}

async function notAsked(): Promise<never> {
  throw new Error("subscription never asks this");
}
