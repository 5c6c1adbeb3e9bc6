import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanEnvironment, run } from "../journey/support/running.ts";
import { sharedSystem, START_TIMEOUT_MS } from "../journey/support/shared-system.ts";
import type { RunningSystem } from "../journey/support/system.ts";
import { makeRunFolder, type RunFolder } from "../support/run-folder.ts";
import { type Block, blocksOf, markdownFiles, ROOT } from "./markdown.ts";

const PAGE_TIMEOUT_MS = 300_000;
/** A failed request fails its page; with plain curl it would only print the problem. */
const HEAD = 'set -euo pipefail\ncurl() { command curl --fail-with-body --show-error "$@"; }\n';

const IS_RUN = /^run: system(?:, prints: (?<wanted>.+))?$/;

const PAGES = Map.groupBy(
  markdownFiles().flatMap((file) => blocksOf(file).filter(({ comment = "" }) => IS_RUN.test(comment))),
  ({ file }) => file,
);

let system: RunningSystem;
let workspace: RunFolder;

beforeAll(async () => {
  system = await sharedSystem();
  workspace = workspaceOf(system);
}, START_TIMEOUT_MS);
afterAll(() => workspace?.[Symbol.dispose]());

test("the pages with commands include the README", () => {
  expect([...PAGES.keys()]).toContain("README.md");
});

test.each([...PAGES])("the commands of %s succeed, in their order", { timeout: PAGE_TIMEOUT_MS }, async (_, blocks) => {
  const { ended, output } = run(["env", "-C", workspace.path, "bash", "-c", scriptOf(blocks)], cleanEnvironment());

  expect(await ended, output()).toBe(0);
  for (const { comment = "", line } of blocks) {
    const wanted = IS_RUN.exec(comment)?.groups?.["wanted"];
    if (wanted !== undefined) expect(outputOf(output(), line), `line ${line}`).toContain(wanted);
  }
});

/** All blocks of a page for one shell, as a reader pastes them, with the addresses of the test system instead of the defaults. */
function scriptOf(blocks: readonly Block[]): string {
  const { url, simulatorControlUrl } = system.info();
  const steps = blocks.map(({ file, line, text }) => `echo '== ${file}:${line}'\n${text}\n`);
  return (HEAD + steps.join(""))
    .replaceAll("http://localhost:8080", url)
    .replaceAll("http://localhost:8444", simulatorControlUrl);
}

/** What the block at this line printed. */
function outputOf(all: string, line: number): string {
  const [, output = ""] = all.split(new RegExp(`^== .*:${line}$`, "m"));
  return output.split(/^== /m)[0] ?? "";
}

/** The repository as a reader sees it while the system runs: with its state in `.state`. */
function workspaceOf({ stateDir }: RunningSystem): RunFolder {
  const folder = makeRunFolder();
  for (const name of readdirSync(ROOT)) {
    if (name !== ".state") symlinkSync(join(ROOT, name), join(folder.path, name));
  }
  symlinkSync(stateDir, join(folder.path, ".state"));
  return folder;
}
