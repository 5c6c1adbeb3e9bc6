import { globSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkRules } from "./rules.ts";

const ROOT = join(import.meta.dirname, "../..");

type Paths = { readonly path?: string | readonly string[]; readonly pathNot?: string | readonly string[] };
type Rule = { readonly name: string; readonly from: Paths; readonly to: Paths };

const { forbidden } = createRequire(import.meta.url)("../../.dependency-cruiser.cjs") as { forbidden: readonly Rule[] };
const FILES = globSync(["services/**/*.{ts,tsx}", "{test,deploy,proto/gen}/**/*.ts"], { cwd: ROOT });

/** Of a side of a rule, without those of packages. */
function patternsOf({ path = [], pathNot = [] }: Paths): string[] {
  return [path, pathNot].flat().filter((pattern) => !pattern.includes("node_modules"));
}

test("each pattern of each rule is that of files which exist, so no rule is left behind when a folder gets another name", () => {
  const left = forbidden.flatMap(({ name, from, to }) =>
    [...patternsOf(from), ...patternsOf(to)]
      .filter((pattern) => {
        const form = new RegExp(pattern.replaceAll("$1", "[^/]+"));
        return !FILES.some((file) => form.test(file));
      })
      .map((pattern) => `${name}: ${pattern}`),
  );
  expect(left).toEqual([]);
});

test("an import of another service, a cycle and an import that leads nowhere are reported, and nothing else", async () => {
  const root = await mkdtemp(join(tmpdir(), "pamm-rules-"));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const name of ["package.json", "tsconfig.json"]) await copyFile(join(ROOT, name), join(root, name));
  const files = {
    "services/fee/domain/charge.ts": `import { debt } from "./debt.ts"; export const charge = (): unknown => debt;`,
    "services/fee/domain/debt.ts": `import { charge } from "./charge.ts"; export const debt = charge;`,
    "services/fee/commands/collect.ts": `import { charge } from "../domain/charge.ts"; export const collect = charge;`,
    "services/funding/commands/withdraw.ts": `import { collect } from "../../fee/commands/collect.ts"; export const all = collect;`,
    "services/funding/queries/list.ts": `import "./nowhere.ts";`,
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }

  const { violations } = await checkRules(root);

  expect(violations.map(({ rule, from }) => `${rule}: ${from}`).toSorted()).toEqual([
    "every-import-resolves: services/funding/queries/list.ts",
    "no-cycles: services/fee/domain/charge.ts",
    "services-meet-only-in-proto: services/funding/commands/withdraw.ts",
  ]);
});
