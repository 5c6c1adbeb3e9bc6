import assert from "node:assert/strict";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { type AccountMoved, MovementKind, type Trade } from "#proto/pamm/platform/v1/movement.ts";
import { enter, type Entry, type FakePosition, getAccount } from "#test/support/platform-fake/ledger.ts";
import type { World } from "./world.ts";

/** One lot. */
export const LOT = 100_000_000n;

export const SYMBOL = "EURUSD";
const BUY = 0;
const SELL = 1;
const IN = 0;
const OUT = 1;
const REVERSAL = 2;
const DAILY_COMMISSION = 8;
const STOP_OUT_COMPENSATION = 19;

/** Money in cents, volumes in units of 1e-8 lots. */
export type Costs = {
  readonly profit?: bigint;
  readonly swap?: bigint;
  readonly commission?: bigint;
  readonly at?: Date;
  readonly dealId?: bigint;
};

export type Trader = {
  /** Returns the id of the position. */
  readonly open: (costs?: Costs & { readonly volume?: bigint }) => bigint;
  /** Sets the floating result of a position. */
  readonly float: (positionId: bigint, profit: bigint, swap?: bigint) => void;
  /** All of a position or a part of its volume; the open rest keeps its share of the floating result. */
  readonly close: (positionId: bigint, costs?: Costs & { readonly volume?: bigint }) => AccountMoved;
  /** Closes a position and opens the rest of the volume on the other side, under the same id. */
  readonly reverse: (positionId: bigint, costs: Costs & { readonly volume: bigint }) => AccountMoved;
  /** Opens and closes with exactly this result. */
  readonly result: (profit: bigint, costs?: Costs) => AccountMoved;
  /** A charge without a trade. */
  readonly charge: (amount: bigint) => AccountMoved;
  /** The platform takes a negative balance back. */
  readonly compensate: (amount: bigint) => AccountMoved;
  /** A dealer moves money without the service. */
  readonly external: (amount: bigint) => AccountMoved;
  /** A booked deal was changed or removed: `reason` says which. */
  readonly amended: (reason?: string, dealId?: bigint) => AccountMoved;
  /** A deal without a trade. */
  readonly other: (action: number, amount: bigint) => AccountMoved;
  readonly openSome: (count: number) => void;
  /** Closes each position with a result of 0.00. */
  readonly closeAll: () => void;
};

let opened = 0n;

/** Trades on an account: adds deals to its log, and changes the open positions that platform returns. */
export function trader({ platform: { ledger } }: World, login: string): Trader {
  const { positions } = getAccount(ledger, login);
  const find = (positionId: bigint): FakePosition => {
    const position = positions.find((each) => each.positionId === positionId);
    assert(position !== undefined, `${login} has no position ${positionId}`);
    return position;
  };
  const deal = (facts: Facts, costs: Costs) => enter(ledger, login, entryOf(facts, costs));
  const self: Trader = {
    open(costs = {}) {
      const { volume = LOT } = costs;
      const positionId = 5_000n + (opened += 1n);
      deal({ action: BUY, entry: IN, positionId, volume, volumeClosed: 0n }, costs);
      positions.push({ positionId, symbol: SYMBOL, volume, profit: 0n, swap: 0n });
      return positionId;
    },
    float: (positionId, profit, swap = 0n) => void Object.assign(find(positionId), { profit, swap }),
    close(positionId, costs = {}) {
      const position = find(positionId);
      const { volume = position.volume } = costs;
      if (volume === position.volume) positions.splice(positions.indexOf(position), 1);
      else Object.assign(position, rest(position, volume));
      return deal({ action: SELL, entry: OUT, positionId, volume, volumeClosed: volume }, costs);
    },
    reverse(positionId, costs) {
      const position = find(positionId);
      const { volume } = costs;
      const volumeClosed = position.volume;
      Object.assign(position, { volume: volume - volumeClosed, profit: 0n, swap: 0n });
      return deal({ action: SELL, entry: REVERSAL, positionId, volume, volumeClosed }, costs);
    },
    result(profit, costs = {}) {
      const positionId = self.open(costs.at === undefined ? {} : { at: costs.at });
      return self.close(positionId, { ...costs, profit });
    },
    charge: (commission) =>
      deal({ action: DAILY_COMMISSION, entry: IN, positionId: 0n, volume: 0n, volumeClosed: 0n }, { commission }),
    compensate: (amount) => self.other(STOP_OUT_COMPENSATION, amount),
    external: (amount) => enter(ledger, login, { kind: MovementKind.EXTERNAL, amount }),
    amended: (reason = "deal_gone", dealId = 77n) =>
      enter(ledger, login, { kind: MovementKind.AMENDMENT, amount: 0n, reason, dealId }),
    other: (action, profit) => deal({ action, entry: IN, positionId: 0n, volume: 0n, volumeClosed: 0n }, { profit }),
    openSome(count) {
      for (let index = 0; index < count; index += 1) self.open();
    },
    closeAll() {
      for (let [first] = positions; first !== undefined; [first] = positions) self.close(first.positionId);
    },
  };
  return self;
}

function rest({ volume, profit, swap }: FakePosition, closed: bigint): Partial<FakePosition> {
  const share = (amount: bigint): bigint => (amount * (volume - closed)) / volume;
  return { volume: volume - closed, profit: share(profit), swap: share(swap) };
}

type Facts = Pick<Trade, "action" | "entry" | "positionId" | "volume" | "volumeClosed">;

function entryOf(facts: Facts, { profit = 0n, swap = 0n, commission = 0n, at, dealId }: Costs): Entry {
  const money = (amount: bigint) => moneyToProto(usd(amount));
  const parts = { profit: money(profit), swap: money(swap), commission: money(commission), fee: money(0n) };
  return {
    kind: MovementKind.TRADE,
    amount: profit + swap + commission,
    trade: { ...facts, symbol: SYMBOL, ...parts },
    ...(at === undefined ? {} : { at }),
    ...(dealId === undefined ? {} : { dealId }),
  };
}
