import process from "node:process";
import { createApi } from "./api.ts";
import { accountsOf, tieSums } from "./books.ts";
import { openBook } from "./book.ts";
import { tellFortnight } from "./fortnight.ts";
import type { Funds } from "./funds.ts";
import { createPlatform } from "./platform.ts";
import { prove } from "./proof.ts";
import { startRehearsal } from "./rehearsal.ts";
import { tellStory } from "./story.ts";
import { findSystem, type System } from "./system.ts";
import { showFees } from "./table.ts";
import { createNarrator, type Narrator } from "./terminal.ts";
import { DemoFailure } from "./wait.ts";
import { areShort } from "./weeks.ts";

const TIED = "Every balance ties to the cent.";
const NOT_TIED = "Balances do not tie: see the differences above.";

const STORIES = ["lifecycle", "fortnight"] as const;
type Story = (typeof STORIES)[number];

const tell = createNarrator();
try {
  process.exitCode = (await demonstrate(tell, storiesOf(process.argv.slice(2)))) ? 0 : 1;
} catch (error) {
  if (!(error instanceof DemoFailure)) throw error;
  process.stderr.write(`make demo: ${error.message}\n`);
  process.exitCode = 1;
}

/** `make demo`: two stories, and after each the proof that every balance ties. */
async function demonstrate(narrator: Narrator, stories: readonly Story[]): Promise<boolean> {
  const system = findSystem(process.env);
  let isTied = true;
  if (stories.includes("lifecycle")) isTied = await lifecycle(narrator, system);
  if (stories.includes("fortnight")) isTied = (await fortnightSomewhere(narrator, system)) && isTied;
  return isTied;
}

/** Both, unless one is asked for by its name. */
function storiesOf(asked: readonly string[]): readonly Story[] {
  const unknown = asked.find((name) => !STORIES.some((story) => story === name));
  if (unknown !== undefined) throw new DemoFailure(`there is no story ${unknown}: ${STORIES.join(", ")}`);
  return asked.length === 0 ? STORIES : STORIES.filter((story) => asked.includes(story));
}

async function fortnightSomewhere(narrator: Narrator, system: System): Promise<boolean> {
  if (areShort(system.weeks)) return await fortnight(narrator, system);
  narrator.title("Fee weeks are long here: two short ones follow on a system of their own, which is started now");
  narrator.note("PAMM_FEE_PERIOD=PT15S make run has weeks that are short enough to see them there");
  await using rehearsal = await startRehearsal();
  return await fortnight(narrator, rehearsal.system);
}

async function lifecycle(narrator: Narrator, system: System): Promise<boolean> {
  const funds = fundsOf(narrator, system);
  narrator.title(
    `The recommended lifecycle, as a CRM drives it, on ${system.url} (references demo-${funds.book.runId}-..)`,
  );
  const accounts = await tellStory(funds, system);
  narrator.step("Proof: the API, the platform's balances, the sum of its deals and the story itself");
  return verdict(narrator, await prove(funds, accounts));
}

async function fortnight(narrator: Narrator, system: System): Promise<boolean> {
  const funds = fundsOf(narrator, system);
  narrator.title(`Two weeks of trading on ${system.url}; a fee week lasts ${system.weeks.periodMs / 1_000} s here`);
  const { pool, fees } = await tellFortnight({ ...funds, system });
  narrator.step("Who paid what, and why");
  showFees(narrator, fees);
  narrator.step("Proof: every account, and the sums that have to agree");
  const isTied = await prove(funds, accountsOf(funds, pool, fees));
  return verdict(narrator, (await tieSums(funds, pool, fees)) && isTied);
}

function fundsOf(narrator: Narrator, system: System): Funds {
  const platform = createPlatform(system.controlUrl);
  return { api: createApi(system), tell: narrator, book: openBook(Date.now()), platform };
}

function verdict(narrator: Narrator, isTied: boolean): boolean {
  narrator.title(isTied ? TIED : NOT_TIED);
  return isTied;
}
