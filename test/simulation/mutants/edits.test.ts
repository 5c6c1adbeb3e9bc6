import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PLANTED_DEFECTS } from "./all-mutants.ts";
import { editsOf } from "./mutant.ts";

const ROOT = new URL("../../../", import.meta.url);

/** `make test` runs only some of them, so another one would be outdated until the next `make proof`. */
test.each(PLANTED_DEFECTS)("the sources have the text to replace: $name", (defect) => {
  for (const { file, find } of editsOf(defect)) expect(readFileSync(new URL(file, ROOT), "utf8")).toContain(find);
});
