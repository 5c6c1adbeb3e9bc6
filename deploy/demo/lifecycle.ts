import { balanceOf, deposit, type Funds, withdraw } from "./funds.ts";
import { expectRefusal } from "./command.ts";
import { assign, assignCall, unassign, unassignCall, untilBalance, untilCancelled } from "./follow.ts";
import type { Account } from "./proof.ts";
import { createInvestor, createMaster, type Investor, type Master } from "./provision.ts";
import type { System } from "./system.ts";

const MAYA = { firstName: "Maya", lastName: "Okafor" };
const INES = { firstName: "Ines", lastName: "Duarte" };
const NOOR = { firstName: "Noor", lastName: "Haddad" };

type Participants = { readonly master: Master; readonly ines: Investor; readonly noor: Investor };

/** The recommended lifecycle of an Investor. Returns the balance that every account must have at the end. */
export async function runLifecycle(funds: Funds, system: System): Promise<readonly Account[]> {
  const participants = await provision(funds, system);
  await fundAndAssign(funds, participants);
  await moveCapital(funds, participants);
  await leave(funds, participants);
  const { master, ines, noor } = participants;
  const expected = (login: string): bigint => balanceOf(funds.ledger, login);
  return [
    // Ines is unassigned, so the Master trades with the capital of Noor alone.
    { role: "Master", login: master.login, expected: expected(noor.login), isExact: false },
    { role: "payment", login: master.paymentLogin, expected: 0n, isExact: true },
    { role: ines.name, login: ines.login, expected: expected(ines.login), isExact: true },
    { role: noor.name, login: noor.login, expected: expected(noor.login), isExact: true },
  ];
}

async function provision(funds: Funds, system: System): Promise<Participants> {
  const { print, ledger } = funds;
  print.step("Create the Master: a trading account and its payment account");
  const master = await createMaster(funds, system, { runId: ledger.runId, person: MAYA });
  print.step("Create two Investors");
  const ines = await createInvestor(funds, system, { runId: ledger.runId, person: INES });
  const noor = await createInvestor(funds, system, { runId: ledger.runId, person: NOOR });
  return { master, ines, noor };
}

async function fundAndAssign(funds: Funds, { master, ines, noor }: Participants): Promise<void> {
  const { print, ledger } = funds;
  print.step("Refused: to assign an Investor who has not reached the Master's minimum");
  await expectRefusal(funds, assignCall({ investor: ines, master }), ["below_min_deposit"]);

  print.step("Deposit initial capital, before the assignment");
  await deposit(funds, ines, 1_000_00n);
  await deposit(funds, noor, 500_50n);

  print.step("Refused: a deposit of a tenth of a cent; amounts are never rounded");
  const tooFine = `login=${ines.login}&amount=0.001&comment=demo-${ledger.runId}-no`;
  await expectRefusal(funds, { method: "POST", path: `/api/v1/investor/deposit?${tooFine}` }, ["amount_precision"]);

  print.step("Assign both Investors to the Master");
  await assign(funds, { investor: ines, master });
  await assign(funds, { investor: noor, master });

  print.step("Watch their capital appear on the Master");
  await untilBalance(funds, master, balanceOf(ledger, ines.login) + balanceOf(ledger, noor.login));
}

async function moveCapital(funds: Funds, { master, ines, noor }: Participants): Promise<void> {
  const { print, ledger } = funds;
  const pooled = (): bigint => balanceOf(ledger, ines.login) + balanceOf(ledger, noor.login);
  print.step("Deposit again: the Master follows");
  await deposit(funds, ines, 250_25n);
  await untilBalance(funds, master, pooled());

  print.step("Withdraw: the Master follows");
  await withdraw(funds, noor, 100_10n);
  await untilBalance(funds, master, pooled());
}

async function leave(funds: Funds, { master, ines, noor }: Participants): Promise<void> {
  const { print, ledger } = funds;
  const pair = { investor: ines, master };
  print.step("Unassign: the exit begins");
  const status = await unassign(funds, pair);

  print.step("Refused: to unassign a second time");
  // When the exit has already finished, the subscription is not active: 409 as well.
  await expectRefusal(funds, unassignCall(pair), ["exit_in_progress", "subscription_not_active"]);

  print.step("Watch PAUSED become CANCELLED, and the capital leave the Master");
  await untilCancelled(funds, pair, status);
  await untilBalance(funds, master, balanceOf(ledger, noor.login));
}
