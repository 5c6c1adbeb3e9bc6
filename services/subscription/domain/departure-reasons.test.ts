import { expect, test } from "vitest";
import { type KnownOfDeparture, departureReasons } from "./departure-reasons.ts";

const ACCOUNT = { filedNumber: 7n, heldNumber: 7n };
const POOL = { masterLogin: "5001", isStopped: false };
const MASTER = { isComplete: true, openPositions: 0 };
const SHARE = { isMoving: false, pooled: 100_00n };
const FREE: KnownOfDeparture = {
  account: ACCOUNT,
  pool: POOL,
  inbound: 0n,
  master: MASTER,
  isAllocated: true,
  share: SHARE,
};

const codesOf = (known: KnownOfDeparture): string[] => departureReasons(known).map(({ code }) => code);

test.each<[string, KnownOfDeparture, string[]]>([
  ["nothing is against it", FREE, []],
  ["nothing is known yet", {}, []],
  ["outside a pool", { account: ACCOUNT, pool: undefined }, []],
  ["the account changed after it was locked", { account: { ...ACCOUNT, filedNumber: 8n } }, ["account_busy"]],
  ["the Master is stopped", { ...FREE, pool: { ...POOL, isStopped: true } }, ["safety_stop"]],
  ["money is on its way to the Master", { ...FREE, inbound: 1n }, ["account_busy"]],
  ["the Master has open positions", { ...FREE, master: { ...MASTER, openPositions: 3 } }, ["master_open_positions"]],
  [
    "deals of the Master are not filed",
    { ...FREE, master: { ...MASTER, isComplete: false } },
    ["allocation_in_progress"],
  ],
  ["deals of the Master are not allocated", { ...FREE, isAllocated: false }, ["allocation_in_progress"]],
  ["the share is moving", { ...FREE, share: { ...SHARE, isMoving: true } }, ["account_busy"]],
  ["the share is negative", { ...FREE, share: { ...SHARE, pooled: -3_21n } }, ["investor_deficit"]],
  ["the share is 0.00", { ...FREE, share: { ...SHARE, pooled: 0n } }, []],
])("%s", (_, known, codes) => {
  expect(codesOf(known)).toEqual(codes);
});
