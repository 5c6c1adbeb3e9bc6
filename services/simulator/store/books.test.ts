import fc from "fast-check";
import { expect, test } from "vitest";
import type { Account } from "../domain/account.ts";
import { type Deal, DEAL_ENTRY, effectOf, moneyDeal } from "../domain/deal.ts";
import { applyChange, type Books, dealsOf, emptyBooks, positionsOf } from "./books.ts";

const LOGINS = [1, 2];

function booksWithAccounts(): Books {
  const books = emptyBooks(1);
  for (const login of LOGINS) {
    const account: Account = {
      login,
      group: "g",
      rights: 0,
      leverage: 100,
      registeredAt: 0,
      passwordChangedAt: 0,
      passwords: { main: "", investor: "" },
      texts: {},
      numbers: {},
      balance: 0n,
      credit: 0n,
    };
    applyChange(books, { kind: "account", account });
  }
  return books;
}

/** Applies the deal that `choice` selects: a payment, a credit, or the opening or closing of a position. */
function applyDeal(books: Books, choice: number, amount: bigint): void {
  const login = LOGINS[choice % 2] ?? 1;
  const { nextDeal: ticket, nextOrder: order } = books.counters;
  const money = moneyDeal({ login, dealer: 0, action: choice % 3 === 0 ? 3 : 2, amount, comment: "" });
  const trade = {
    ...money,
    action: 0 as const,
    order,
    symbol: "EURUSD",
    price: 110_000n,
    volume: 10n,
    positionId: order,
  };
  const [open] = positionsOf(books, login);
  const closing = { ...trade, entry: DEAL_ENTRY.out, action: 1 as const, volume: 4n, positionId: open?.id ?? 0 };
  const isClosing = choice % 5 === 1 && open !== undefined;
  const draft = isClosing ? closing : choice % 5 === 0 ? trade : money;
  applyChange(books, { kind: "deals", deals: [{ ...draft, ticket, timeMsc: ticket } satisfies Deal] });
}

const someDeals = fc.array(fc.tuple(fc.nat(29), fc.bigInt({ min: -500n, max: 500n })), { maxLength: 40 });

test("balance and credit are always the sum of the deals", () => {
  fc.assert(
    fc.property(someDeals, (deals) => {
      const books = booksWithAccounts();
      for (const [choice, amount] of deals) applyDeal(books, choice, amount);
      for (const login of LOGINS) {
        const effects = dealsOf(books, login).map(effectOf);
        const sums = {
          balance: effects.reduce((sum, { balance }) => sum + balance, 0n),
          credit: effects.reduce((sum, { credit }) => sum + credit, 0n),
        };
        expect(books.accounts.get(login)).toMatchObject(sums);
      }
    }),
  );
});

test("after the loss of deals the books equal those without these deals", () => {
  fc.assert(
    fc.property(someDeals, someDeals, (kept, lost) => {
      const [books, expected] = [booksWithAccounts(), booksWithAccounts()];
      for (const [choice, amount] of kept) {
        applyDeal(books, choice, amount);
        applyDeal(expected, choice, amount);
      }
      const fromTicket = books.counters.nextDeal;
      for (const [choice, amount] of lost) applyDeal(books, choice, amount);
      applyChange(books, { kind: "forgotten", fromTicket });

      for (const each of [books, expected]) each.counters.lastTimeMsc = 0;
      expect(sorted(books)).toEqual(sorted(expected));
    }),
  );
});

/** Positions that were closed and restored have another order, which has no meaning. */
function sorted(books: Books): object {
  const positions = [...books.positions.values()].toSorted((left, right) => left.id - right.id);
  const byLogin = LOGINS.map((login) => [...(books.positionsByLogin.get(login) ?? [])].toSorted((a, b) => a - b));
  const deals = LOGINS.map((login) => dealsOf(books, login));
  return { ...books, positions, positionsByLogin: byLogin, dealsByLogin: deals };
}

test("the deals of a removed account are removed too", () => {
  const books = booksWithAccounts();
  applyDeal(books, 2, 5n);
  applyChange(books, { kind: "account_removed", login: 1 });
  expect([books.accounts.has(1), books.deals.size, dealsOf(books, 1)]).toEqual([false, 0, []]);
  applyChange(books, { kind: "forgotten", fromTicket: 1 });
  expect(books.accounts.size).toBe(1);
});
