import process from "node:process";
import { createApi } from "./api.ts";
import { accountsOf, compareTotals } from "./pool-proof.ts";
import { type Funds, openLedger } from "./funds.ts";
import { runFortnight } from "./fortnight.ts";
import { createPlatform } from "./platform.ts";
import { prove } from "./proof.ts";
import { startTemporarySystem } from "./temporary-system.ts";
import { runLifecycle } from "./lifecycle.ts";
import { findSystem, type System } from "./system.ts";
import { showFees } from "./table.ts";
import { createPrinter, type Printer } from "./printer.ts";
import { showShowcase } from "./showcase/showcase.ts";
import { DemoFailure } from "./wait.ts";
import { areShort } from "./weeks.ts";

const MATCH = "Every balance matches to the cent.";
const NO_MATCH = "Balances do not match: see the differences above.";

const SCENARIOS = ["lifecycle", "fortnight"] as const;
type Scenario = (typeof SCENARIOS)[number];

const print = createPrinter();
try {
  const [first, ...rest] = process.argv.slice(2);
  if (first === "showcase") await showShowcase(print, rest);
  else process.exitCode = (await runScenarios(print, scenariosOf(process.argv.slice(2)))) ? 0 : 1;
} catch (error) {
  if (!(error instanceof DemoFailure)) throw error;
  process.stderr.write(`make demo: ${error.message}\n`);
  process.exitCode = 1;
}

/** `make demo`: two scenarios, and after each the proof that every balance matches. */
async function runScenarios(printer: Printer, scenarios: readonly Scenario[]): Promise<boolean> {
  const system = findSystem(process.env);
  let isMatch = true;
  if (scenarios.includes("lifecycle")) isMatch = await lifecycle(printer, system);
  if (scenarios.includes("fortnight")) isMatch = (await fortnightOnShortWeeks(printer, system)) && isMatch;
  return isMatch;
}

/** The named scenarios; both when none is named. */
function scenariosOf(names: readonly string[]): readonly Scenario[] {
  const unknown = names.find((name) => !SCENARIOS.some((scenario) => scenario === name));
  if (unknown !== undefined) throw new DemoFailure(`there is no scenario ${unknown}; choose ${SCENARIOS.join(" or ")}`);
  return names.length === 0 ? SCENARIOS : SCENARIOS.filter((scenario) => names.includes(scenario));
}

async function fortnightOnShortWeeks(printer: Printer, system: System): Promise<boolean> {
  if (areShort(system.weeks)) return await fortnight(printer, system);
  printer.title("Fee weeks are long on this system: a temporary second system with weeks of 15 s starts now");
  printer.note(
    "after PAMM_STATE_DIR=/tmp/pamm-weeks PAMM_FEE_PERIOD=PT15S make run, the scenario runs on that system (with the same PAMM_STATE_DIR)",
  );
  await using temporary = await startTemporarySystem();
  return await fortnight(printer, temporary.system);
}

async function lifecycle(printer: Printer, system: System): Promise<boolean> {
  const funds = fundsOf(printer, system);
  printer.title(
    `The recommended lifecycle, as a CRM drives it, on ${system.url} (references demo-${funds.ledger.runId}-..)`,
  );
  const accounts = await runLifecycle(funds, system);
  printer.step("Proof: the API, the platform's balances, the sum of its deals and the CRM's own record");
  return verdict(printer, await prove(funds, accounts));
}

async function fortnight(printer: Printer, system: System): Promise<boolean> {
  const funds = fundsOf(printer, system);
  printer.title(`Two weeks of trading on ${system.url}; a fee week lasts ${system.weeks.periodMs / 1_000} s here`);
  const { pool, fees } = await runFortnight({ ...funds, system });
  printer.step("All fees with payer, occasion and basis");
  showFees(printer, fees);
  printer.step("Proof: every account, and the sums that must be equal");
  const isMatch = await prove(funds, accountsOf(funds, pool, fees));
  return verdict(printer, (await compareTotals(funds, pool, fees)) && isMatch);
}

function fundsOf(printer: Printer, system: System): Funds {
  const platform = createPlatform(system.controlUrl);
  return { api: createApi(system), print: printer, ledger: openLedger(Date.now()), platform };
}

function verdict(printer: Printer, isMatch: boolean): boolean {
  printer.title(isMatch ? MATCH : NO_MATCH);
  return isMatch;
}
