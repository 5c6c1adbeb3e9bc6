import process from "node:process";
import { createApi } from "./api.ts";
import { openBook } from "./book.ts";
import { createPlatform } from "./platform.ts";
import { prove } from "./proof.ts";
import { tellStory } from "./story.ts";
import { findSystem } from "./system.ts";
import { createNarrator, type Narrator } from "./terminal.ts";
import { DemoFailure } from "./wait.ts";

const tell = createNarrator();
try {
  process.exitCode = (await demonstrate(tell)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof DemoFailure)) throw error;
  process.stderr.write(`make demo: ${error.message}\n`);
  process.exitCode = 1;
}

/** `make demo`: the story, then the proof that every balance ties. */
async function demonstrate(narrator: Narrator): Promise<boolean> {
  const system = findSystem(process.env);
  const book = openBook(Date.now());
  narrator.title(`The recommended lifecycle, as a CRM drives it, on ${system.url} (references demo-${book.runId}-..)`);
  const platform = createPlatform(system.controlUrl);
  const funds = { api: createApi(system), tell: narrator, book, platform };
  const accounts = await tellStory(funds, system);

  narrator.step("Proof: the API, the platform's balances, the sum of its deals and the story itself");
  const isTied = await prove(funds, accounts);
  narrator.title(isTied ? "Every balance ties to the cent." : "Balances do not tie: see the differences above.");
  return isTied;
}
