import fc from "fast-check";
import { expect, test } from "vitest";
import { type Books, emptyOutcome, type LoggedMovement, type OpenTransfer } from "./books.ts";
import { fileOnInvestor, fileOnMaster } from "./file-entry.ts";
import type { MovementKind } from "./classify-movement.ts";
import { EMPTY_HOLDING, NOTHING_ON_ACCOUNT, onInvestor, onMaster, type HoldingBuckets } from "./buckets.ts";

const MASTER = "1000";
const IDS = [1n, 2n, 3n] as const;

function investorOf(id: bigint): string {
  return `20${id}`;
}

/** One Master with three Investors: two in its pool, one that has left it. */
function someBooks(): Books {
  const pooled = (id: bigint) => id < 3n;
  return {
    accounts: new Map(
      IDS.map((id) => [
        investorOf(id),
        {
          login: investorOf(id),
          filedNumber: -1n,
          movedNumber: -1n,
          toAdopt: 0n,
          cause: undefined,
          buckets: NOTHING_ON_ACCOUNT,
          postings: { number: 0n, inFlight: undefined },
          pooledIn: pooled(id) ? id : undefined,
        },
      ]),
    ),
    pools: new Map([
      [
        MASTER,
        {
          login: MASTER,
          filedNumber: -1n,
          external: 0n,
          acknowledged: undefined,
          externalSince: -1n,
          externalNumber: -1n,
          externalDealId: 0n,
          cause: undefined,
          own: { waiting: 0n, pooled: 0n, unredeemed: 0n },
          importedMirrors: 0n,
          importedExits: 0n,
          unallocated: 0n,
          filedDealId: 0n,
          arePositionsKnown: true,
          stoppedReason: undefined,
        },
      ],
    ]),
    holdings: new Map(
      IDS.map((id) => [
        id,
        {
          subscriptionId: id,
          masterLogin: MASTER,
          investorLogin: investorOf(id),
          isPooled: pooled(id),
          buckets: EMPTY_HOLDING,
          unredeemed: 0n,
        },
      ]),
    ),
    reserves: new Map(),
    transfers: new Map(),
    outcome: emptyOutcome(),
  };
}

function holdingOf(books: Books, id: bigint): HoldingBuckets {
  return books.holdings.get(id)!.buckets;
}

function movement(entry: readonly [string, bigint], kind: MovementKind, amount: bigint, key = ""): LoggedMovement {
  const [login, number] = entry;
  const deal = { dealId: number, action: 2, comment: "", dealAt: undefined, day: "2026-01-31", isAdopted: false };
  const role = login === MASTER ? "master" : "investor";
  const reason = kind === "amendment" ? "deal_gone" : "";
  return { login, role, number, kind, amount, key, ...deal, reason, transferId: 0n, trade: undefined };
}

test("entries are filed once and in order", () => {
  const books = someBooks();
  const login = investorOf(1n);
  const deposit = movement([login, 1n], "deposit", 5n);
  const opening = movement([login, 0n], "opening", 0n);
  expect(() => fileOnInvestor(books, deposit)).toThrow("does not follow -1");
  for (const entry of [opening, deposit, deposit, opening]) fileOnInvestor(books, entry);
  expect(holdingOf(books, 1n)).toEqual({ ...EMPTY_HOLDING, inbound: 5n });
  expect(books.outcome.flows).toEqual([{ subscriptionId: 1n, amount: 5n, source: undefined }]);
});

test("an applied mirror moves each of its flows", () => {
  const books = someBooks();
  fileOnInvestor(books, movement([investorOf(1n), 0n], "deposit", 50n));
  const flows = [{ subscriptionId: 1n, amount: 50n }];
  books.transfers.set("m", { kind: "mirror", id: 9n, key: "m", amount: 50n, flows });
  fileOnMaster(books, movement([MASTER, 0n], "mirror", 50n, "m"));
  expect(holdingOf(books, 1n)).toEqual({ ...EMPTY_HOLDING, waiting: 50n });
  expect(books.transfers.size).toBe(0);
  // A second entry with the key of an applied mirror is external funds.
  fileOnMaster(books, movement([MASTER, 1n], "mirror", 50n, "m"));
  expect(books.pools.get(MASTER)).toMatchObject({ external: 50n });
});

test("a deposit on a Master waits for units of own capital, and a withdrawal leaves at once, each with its log entry", () => {
  const books = someBooks();
  fileOnMaster(books, movement([MASTER, 0n], "opening", 7n));
  fileOnMaster(books, movement([MASTER, 1n], "external", -9n));
  expect(books.pools.get(MASTER)).toMatchObject({ external: -2n, own: { waiting: 7n, pooled: -9n, unredeemed: 9n } });
  expect(books.outcome.ownFlows).toEqual([
    { masterLogin: MASTER, amount: 7n, entry: { number: 0n, dealId: 0n } },
    { masterLogin: MASTER, amount: -9n, entry: { number: 1n, dealId: 1n } },
  ]);
});

type RandomMovement = { readonly id: bigint; readonly action: number; readonly amount: bigint };

const aMovement: fc.Arbitrary<RandomMovement> = fc.record({
  id: fc.constantFrom(...IDS),
  action: fc.nat(11),
  amount: fc.bigInt(1n, 1_000n),
});

test("after any sequence of movements each cent is in exactly one bucket and the books reconcile with both accounts", () => {
  fc.assert(
    fc.property(fc.array(aMovement, { maxLength: 60 }), (movements) => {
      const history = aHistory();
      for (const each of movements) {
        history.apply(each);
        history.expectToReconcile();
      }
    }),
    { numRuns: 300 },
  );
});

/** The books, and the balances on the platform. */
function aHistory() {
  const books = someBooks();
  const balances = new Map<string, bigint>();
  const numbers = new Map<string, bigint>();
  let count = 0;

  function log(login: string, kind: MovementKind, amount: bigint, key = ""): void {
    const number = numbers.get(login) ?? 0n;
    numbers.set(login, number + 1n);
    balances.set(login, (balances.get(login) ?? 0n) + amount);
    const file = login === MASTER ? fileOnMaster : fileOnInvestor;
    file(books, movement([login, number], kind, amount, key));
  }

  /** One mirror for all open flows, applied at once. */
  function mirror(): void {
    const flows = books.outcome.flows.splice(0);
    const amount = flows.reduce((net, flow) => net + flow.amount, 0n);
    const transfer: OpenTransfer = { kind: "mirror", id: BigInt((count += 1)), key: `mirror:${count}`, amount, flows };
    books.transfers.set(transfer.key, transfer);
    log(MASTER, "mirror", amount, transfer.key);
  }

  function sendExits(): void {
    for (const flow of books.outcome.furtherExits.splice(0)) {
      const key = `exit:${(count += 1)}`;
      const amount = -flow.amount;
      books.transfers.set(key, { kind: "exit", id: BigInt(count), key, amount, flows: [{ ...flow, amount }] });
      log(MASTER, "exit", amount, key);
    }
  }

  function reserve(id: bigint, amount: bigint): string | undefined {
    const holding = books.holdings.get(id)!;
    if (holding.buckets.waiting < amount) return undefined;
    const key = `reserve:${(count += 1)}`;
    const buckets = {
      ...holding.buckets,
      waiting: holding.buckets.waiting - amount,
      reserved: holding.buckets.reserved + amount,
    };
    books.holdings.set(id, { ...holding, buckets });
    books.reserves.set(key, { key, subscriptionId: id, amount, isOutside: false });
    return key;
  }

  function apply({ id, action, amount }: RandomMovement): void {
    const login = investorOf(id);
    const anyReserve = [...books.reserves.values()].find(({ subscriptionId }) => subscriptionId === id);
    const actions: readonly (() => void)[] = [
      () => log(login, "deposit", amount),
      () => log(login, "external", -amount),
      () => log(login, "external", amount),
      () => log(login, "fee_debit", -amount),
      () => log(login, "reversal", amount),
      () => log(MASTER, "external", amount),
      () => log(MASTER, "trade", -amount),
      mirror,
      sendExits,
      () => void reserve(id, amount),
      () => anyReserve && log(login, "withdrawal", -amount, anyReserve.key),
      () => anyReserve && log(login, "withdrawal", -anyReserve.amount, anyReserve.key),
    ];
    actions[action]!();
  }

  function expectToReconcile(): void {
    for (const id of IDS) {
      const account = books.accounts.get(investorOf(id))!;
      const total = onInvestor(account.buckets) + onInvestor(holdingOf(books, id));
      expect(total).toBe(balances.get(account.login) ?? 0n);
    }
    const pool = books.pools.get(MASTER)!;
    const holdings = IDS.reduce((total, id) => total + onMaster(holdingOf(books, id)), 0n);
    const { waiting, pooled } = pool.own;
    expect(holdings + waiting + pooled + pool.unallocated).toBe(balances.get(MASTER) ?? 0n);
    expect(pool.external).toBe(waiting + pooled);
  }

  return { apply, expectToReconcile };
}
