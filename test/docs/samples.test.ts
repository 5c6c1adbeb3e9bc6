import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { beforeAll, expect, test } from "vitest";
import { cleanEnvironment, run } from "../journey/support/running.ts";
import { sharedSystem, START_TIMEOUT_MS } from "../journey/support/shared-system.ts";
import type { RunningSystem } from "../journey/support/system.ts";
import { makeRunFolder } from "../support/run-folder.ts";
import { blocksOf } from "./markdown.ts";

const PAGE = "docs/integrate/client-code.md";
const PROGRAM_TIMEOUT_MS = 120_000;
const LANGUAGES = [
  { language: "ts", command: process.execPath, file: "sample.mts", needs: "process.exit(0)", evaluate: "--eval" },
  {
    language: "python",
    command: "python3",
    file: "sample.py",
    needs: "import sys; assert sys.version_info >= (3, 11)",
    evaluate: "-c",
  },
  {
    language: "php",
    command: "php",
    file: "sample.php",
    needs: "exit(extension_loaded('curl') ? 0 : 1);",
    evaluate: "-r",
  },
] as const;

let system: RunningSystem;
beforeAll(async () => {
  system = await sharedSystem();
}, START_TIMEOUT_MS);

function isInstalled({ command, evaluate, needs }: (typeof LANGUAGES)[number]): boolean {
  try {
    execFileSync(command, [evaluate, needs], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

for (const each of LANGUAGES) {
  const { language, command, file } = each;
  test.skipIf(!isInstalled(each))(
    `the samples in ${language} carry an Investor through its life, where ${command} is installed`,
    { timeout: PROGRAM_TIMEOUT_MS },
    async () => {
      using folder = makeRunFolder();
      const path = join(folder.path, file);
      writeFileSync(path, programIn(language));
      const { url, apiKey } = system.info();
      const { ended, output } = run([command, path], {
        ...cleanEnvironment(),
        PAMM_URL: url,
        PAMM_API_KEY: apiKey ?? "",
        NODE_NO_WARNINGS: "1",
      });

      expect(await ended, output()).toBe(0);
      expect(output().trim().split("\n")).toEqual([
        expect.stringMatching(/^deposited 1000(?:\.0)? deal \d+$/),
        "subscription ACTIVE",
        expect.stringMatching(/^converged (?:true|True)$/),
        expect.stringMatching(/^withdrawn 50(?:\.0)? fee 0\.00$/),
        "refused amount_precision",
        "subscription CANCELLED",
      ]);
    },
  );
}

test("every sample exists in all languages", () => {
  const count = (language: string) => blocksOf(PAGE).filter((block) => block.language === language).length;

  expect(["sh", "ts", "python", "php"].map(count)).toEqual(Array.from({ length: 4 }, () => count("sh")));
});

/** The blocks of one language, one after the other. */
function programIn(language: string): string {
  return blocksOf(PAGE)
    .filter((block) => block.language === language)
    .map(({ text }) => `${text}\n`)
    .join("\n");
}
