import { readFileSync } from "node:fs";
import spectralCore, { type RulesetDefinition } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";

const { Spectral } = spectralCore;

/** Errors, warnings and hints of the rules that Spectral recommends for OpenAPI. */
export async function spectral(file: string): Promise<string[]> {
  const linter = new Spectral();
  // The rule set has the type of a file, which may lack what the function asks for.
  linter.setRuleset({ extends: [[oas as RulesetDefinition, "recommended"]] });
  const found = await linter.run(readFileSync(file, "utf8"));
  return found.map(({ code, message, path }) => `spectral ${code}: ${message} ${path.join("/")}`);
}
