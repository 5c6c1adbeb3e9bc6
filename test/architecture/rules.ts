import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export type Violation = { readonly rule: string; readonly from: string; readonly to: string };
export type Verdict = { readonly violations: readonly Violation[]; readonly modules: number };

const ROOT = join(import.meta.dirname, "../..");
const CRUISER = join(ROOT, "node_modules/.bin/depcruise");
const CONFIG = join(ROOT, ".dependency-cruiser.cjs");
const FOLDERS = ["services", "test", "deploy"];
const MAX_OUTPUT_BYTES = 256 * 1024 ** 2;

type CruiseResult = {
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
};

/** Checks a tree with the layout of this repository against the rules of .dependency-cruiser.cjs. */
export async function checkRules(root: string): Promise<Verdict> {
  const folders = FOLDERS.filter((folder) => existsSync(join(root, folder)));
  const args = ["--config", CONFIG, "--output-type", "json", ...folders];
  // The exit code of the tool is the number of violations, so an error may still come with a report.
  const output = await new Promise<string>((resolve, reject) => {
    execFile(CRUISER, args, { cwd: root, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
      if (stdout.startsWith("{")) resolve(stdout);
      else reject(new Error(`dependency-cruiser printed no report: ${stderr || stdout}`, { cause: error }));
    });
  });
  const { summary } = JSON.parse(output) as CruiseResult;
  const violations = summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
  return { violations, modules: summary.totalCruised };
}
