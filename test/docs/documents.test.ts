import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { anchorsOf, blocksOf, codeSpansOf, linksOf, markdownFiles, read, ROOT } from "./markdown.ts";

const FILES = markdownFiles();
const OWN_PATH = /^(?:\.ci|deploy|docs|proto|services|test)\/[\w./-]+$/;
const MARKS = /^(?:run: system(?:, prints: .+)?|not run: .+)$/;

test("the checked pages include those of every folder", () => {
  expect(FILES).toEqual(expect.arrayContaining(["README.md", "docs/integrate.md", "services/simulator/README.md"]));
});

test("every shell block is marked as run by a test, or has a reason why it is not", () => {
  const blocks = FILES.flatMap((file) => blocksOf(file)).filter(({ language }) => language === "sh");
  const unmarked = blocks.filter(({ comment = "" }) => !MARKS.test(comment));

  expect(blocks.length).toBeGreaterThan(0);
  expect(unmarked.map(({ file, line }) => `${file}:${line}`)).toEqual([]);
});

test("every link leads to a file and a heading that exist", () => {
  const broken = FILES.flatMap((file) => linksOf(file)).filter(({ file, target }) => {
    const [path = "", anchor] = target.split("#");
    const page = path === "" ? file : normalize(join(dirname(file), path));
    if (!existsSync(join(ROOT, page))) return true;
    return anchor !== undefined && page.endsWith(".md") && !anchorsOf(read(page)).has(anchor);
  });

  expect(broken).toEqual([]);
});

const PICTURES = spawnSync("git", ["-C", ROOT, "ls-files", "docs/*.png", "docs/*.svg"], { encoding: "utf8" });

test.runIf(PICTURES.status === 0)("Git has the pictures that a page shows, and no others", () => {
  const links = FILES.flatMap((file) => linksOf(file)).map(({ file, target }) =>
    normalize(join(dirname(file), target)),
  );
  const shown = new Set(links.filter((path) => /^docs\/.*\.(?:png|svg)$/.test(path)));

  expect(PICTURES.stdout.trim().split("\n").toSorted()).toEqual([...shown].toSorted());
});

test("every repository path named in a page exists", () => {
  const missing = FILES.flatMap((file) =>
    codeSpansOf(read(file))
      .filter((span) => OWN_PATH.test(span))
      .filter((path) => !existsSync(join(ROOT, path)) && !existsSync(join(ROOT, dirname(file), path)))
      .map((path) => `${file}: ${path}`),
  );

  expect(missing).toEqual([]);
});

test("every make target and npm script named in a page exists", () => {
  const targets = new Set([...read("Makefile").matchAll(/^([a-z-]+):/gm)].map(([, name]) => name));
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const commands = FILES.flatMap((file) => [
    ...codeSpansOf(read(file)),
    ...blocksOf(file)
      .filter(({ language }) => language === "sh")
      .map(({ text }) => text.replaceAll(/#.*$/gm, "")),
  ]).join("\n");
  const made = [...commands.matchAll(/\bmake ([a-z][a-z-]*)/g)].map(([, name = ""]) => name);
  const scripted = [...commands.matchAll(/\bnpm run (?:-s |--silent )?([a-z][a-z:-]*)/g)].map(([, name = ""]) => name);

  expect(made.filter((name) => !targets.has(name))).toEqual([]);
  expect(scripted.filter((name) => !(name in scripts))).toEqual([]);
});

const ALERT_PAGES = [
  ["deploy/alerts/pamm-rules.yaml", "docs/operate/money-alerts.md"],
  ["deploy/alerts/service-rules.yaml", "docs/operate/service-alerts.md"],
] as const;

test("every alert has a section of the runbook", () => {
  type Rules = { readonly groups: readonly { readonly rules: readonly { readonly alert?: string }[] }[] };
  for (const [file, page] of ALERT_PAGES) {
    const { groups } = parse(read(file)) as Rules;
    const alerts = groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []));
    const sections = [...read(page).matchAll(/^### (Pamm\w+)$/gm)].map(([, name]) => name);

    expect(alerts.length).toBeGreaterThan(10);
    expect(sections.toSorted()).toEqual(alerts.toSorted());
  }
});

test("every page of decisions is in the index once, and has reasons and costs", () => {
  const folder = "docs/decisions/";
  const pages = FILES.filter((file) => file.startsWith(folder) && !file.endsWith("/README.md"));
  const listed = linksOf(`${folder}README.md`)
    .map(({ target }) => join(folder, target))
    .filter((page) => page.startsWith(folder));

  expect(pages.length).toBeGreaterThan(20);
  expect(listed.toSorted()).toEqual(pages.toSorted());
  for (const page of pages) {
    const text = read(page);
    expect(text, page).toContain("**Why.**");
    expect(text, page).toContain("**Cost.**");
  }
});

test("code that names a page of decisions names one that exists", () => {
  const listed = spawnSync("git", ["-C", ROOT, "grep", "-hoE", "docs/decisions/[a-z0-9-]+[.]md"], { encoding: "utf8" });
  const named = new Set(listed.stdout.split("\n").filter((path) => path !== ""));

  expect([...named].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
