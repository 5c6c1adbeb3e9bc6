import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { problemIn, historyOf } from "./commit-subjects.ts";

test.each([
  "fix(platform): send operations with an unconfirmed ticket to manual review",
  "refactor(kernel, fee)!: replace the outbox of fee",
  "test(docs): run the commands of the README",
  "docs(api): API keys rotate within seven days",
])("%s is accepted", (subject) => {
  expect(problemIn(subject)).toBeUndefined();
});

test.each([
  ["platform: operations of unknown outcome", "has the unknown type platform"],
  ["fix: the balance", "has no scope"],
  ["Fixed the balance", "is not of the form"],
  ["fix(platform) the balance", "is not of the form"],
  ["fix(platform): The balance", "begins its subject with a capital letter"],
  ["fix(platform): round the balance.", "ends with a full stop"],
  ["fix(platform):  round the balance", "has spaces around its subject"],
  [`fix(platform): ${"round ".repeat(25)}down`, "is longer than 120 characters"],
  ["fix(): round the balance", "is not of the form"],
])("%s is rejected", (subject, problem) => {
  expect(problemIn(subject)).toContain(problem);
});

test("all commits after the base are read, except merges", () => {
  const { path, git, commit } = repository();
  const base = commit("fix(fee): one");
  git("checkout", "-q", "-b", "side");
  commit("feat(fee): two");
  git("checkout", "-q", "main");
  commit("wrong");
  git("merge", "-q", "--no-ff", "-m", "Merge branch side", "side");

  const history = historyOf(path, base);

  expect(history).toMatchObject({ kind: "commits" });
  const subjects = history.kind === "commits" ? history.commits.map(({ subject }) => subject) : [];
  expect(subjects.toSorted()).toEqual(["feat(fee): two", "wrong"]);
});

test("a history without the base is not checked, and the result has the reason", () => {
  const { path, commit } = repository();
  commit("fix(fee): one");
  const shallow = folder();
  commit("fix(fee): two");
  spawnSync("git", ["clone", "-q", "--depth", "1", `file://${path}`, shallow]);

  expect(historyOf(path, "4b981a8")).toEqual({ kind: "unavailable", why: "4b981a8 is not in this history" });
  expect(historyOf(shallow, "4b981a8")).toEqual({ kind: "unavailable", why: "the clone is shallow" });
  expect(historyOf(folder(), "4b981a8")).toEqual({ kind: "unavailable", why: "this is not a git repository" });
});

function repository() {
  const path = folder();
  const git = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync("git", ["-C", path, ...args], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  };
  git("init", "-q", "-b", "main");
  git("config", "user.name", "A Tester");
  git("config", "user.email", "tester@example.com");
  const commit = (subject: string) => {
    git("commit", "-q", "--allow-empty", "--no-verify", "-m", subject);
    return git("rev-parse", "HEAD");
  };
  return { path, git, commit };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "commits-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
