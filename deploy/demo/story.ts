import { balanceOf } from "./book.ts";
import { beRefused } from "./command.ts";
import { assign, assignCall, unassign, unassignCall, untilBalance, untilCancelled } from "./follow.ts";
import { deposit, type Funds, withdraw } from "./funds.ts";
import type { Account } from "./proof.ts";
import { createInvestor, createMaster, type Investor, type Master } from "./provision.ts";
import type { System } from "./system.ts";

const MAYA = { firstName: "Maya", lastName: "Okafor" };
const INES = { firstName: "Ines", lastName: "Duarte" };
const NOOR = { firstName: "Noor", lastName: "Haddad" };

type Cast = { readonly master: Master; readonly ines: Investor; readonly noor: Investor };

/** The recommended lifecycle of section 1 of the specification. Answers what every account has to hold at the end. */
export async function tellStory(funds: Funds, system: System): Promise<readonly Account[]> {
  const cast = await provision(funds, system);
  await fundAndAssign(funds, cast);
  await moveCapital(funds, cast);
  await leave(funds, cast);
  const { master, ines, noor } = cast;
  const expected = (login: string): bigint => balanceOf(funds.book, login);
  return [
    // Ines left, so the Master trades with the capital of Noor alone.
    { role: "Master", login: master.login, expected: expected(noor.login), isExact: false },
    { role: "payment", login: master.paymentLogin, expected: 0n, isExact: true },
    { role: ines.name, login: ines.login, expected: expected(ines.login), isExact: true },
    { role: noor.name, login: noor.login, expected: expected(noor.login), isExact: true },
  ];
}

async function provision(funds: Funds, system: System): Promise<Cast> {
  const { tell, book } = funds;
  tell.step("Create the Master: a trading account and its payment account");
  const master = await createMaster(funds, system, { runId: book.runId, person: MAYA });
  tell.step("Create two Investors");
  const ines = await createInvestor(funds, system, { runId: book.runId, person: INES });
  const noor = await createInvestor(funds, system, { runId: book.runId, person: NOOR });
  return { master, ines, noor };
}

async function fundAndAssign(funds: Funds, { master, ines, noor }: Cast): Promise<void> {
  const { tell, book } = funds;
  tell.step("Refused: to assign an Investor who has not reached the Master's minimum");
  await beRefused(funds, assignCall({ investor: ines, master }), ["below_min_deposit"]);

  tell.step("Deposit initial capital, before the assignment");
  await deposit(funds, ines, 1_000_00n);
  await deposit(funds, noor, 500_50n);

  tell.step("Refused: a deposit of a tenth of a cent; amounts are never rounded");
  const tooFine = `login=${ines.login}&amount=0.001&comment=demo-${book.runId}-no`;
  await beRefused(funds, { method: "POST", path: `/api/v1/investor/deposit?${tooFine}` }, ["amount_precision"]);

  tell.step("Assign both Investors to the Master");
  await assign(funds, { investor: ines, master });
  await assign(funds, { investor: noor, master });

  tell.step("Watch their capital appear on the Master");
  await untilBalance(funds, master, balanceOf(book, ines.login) + balanceOf(book, noor.login));
}

async function moveCapital(funds: Funds, { master, ines, noor }: Cast): Promise<void> {
  const { tell, book } = funds;
  const pooled = (): bigint => balanceOf(book, ines.login) + balanceOf(book, noor.login);
  tell.step("Deposit again: the Master follows");
  await deposit(funds, ines, 250_25n);
  await untilBalance(funds, master, pooled());

  tell.step("Withdraw: the Master follows");
  await withdraw(funds, noor, 100_10n);
  await untilBalance(funds, master, pooled());
}

async function leave(funds: Funds, { master, ines, noor }: Cast): Promise<void> {
  const { tell, book } = funds;
  const pair = { investor: ines, master };
  tell.step("Unassign: the exit begins");
  const status = await unassign(funds, pair);

  tell.step("Refused: to unassign a second time");
  // When the exit is already over, there is nothing active any more: 409 all the same.
  await beRefused(funds, unassignCall(pair), ["exit_in_progress", "subscription_not_active"]);

  tell.step("Watch PAUSED become CANCELLED, and the capital leave the Master");
  await untilCancelled(funds, pair, status);
  await untilBalance(funds, master, balanceOf(book, noor.login));
}
