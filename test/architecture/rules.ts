import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export type Breach = { readonly law: string; readonly from: string; readonly to: string };
export type Verdict = { readonly breaches: readonly Breach[]; readonly modules: number };

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

/** Holds the laws of .dependency-cruiser.cjs against a tree that is laid out like this repository. */
export async function judge(root: string): Promise<Verdict> {
  const folders = FOLDERS.filter((folder) => existsSync(join(root, folder)));
  const args = ["--config", CONFIG, "--output-type", "json", ...folders];
  // Its exit code is the number of breaches, so an error here may be an answer.
  const output = await new Promise<string>((resolve, reject) => {
    execFile(CRUISER, args, { cwd: root, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
      if (stdout.startsWith("{")) resolve(stdout);
      else reject(new Error(`dependency-cruiser gave no answer: ${stderr || stdout}`, { cause: error }));
    });
  });
  const { summary } = JSON.parse(output) as CruiseResult;
  const breaches = summary.violations.map(({ rule, from, to }) => ({ law: rule.name, from, to }));
  return { breaches, modules: summary.totalCruised };
}
