import { spawnSync } from "node:child_process";
import process from "node:process";

/** Subjects before this commit have no type; they are not checked. */
const BASE = "4b981a8";
const TYPES = ["build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test"];
const MAX_LENGTH = 120;
const FORM = /^(?<type>[a-z]+)(?:\((?<scope>[a-z0-9-]+(?:, ?[a-z0-9-]+)*)\))?!?: (?<subject>.+)$/;

const git = (...args: string[]) => spawnSync("git", ["-C", import.meta.dirname, ...args], { encoding: "utf8" });

/** The commits after the base, without merges. */
const listed = git("log", "--no-merges", "--format=%h %s", `${BASE}..HEAD`);
if (listed.status !== 0 || git("merge-base", "--is-ancestor", BASE, "HEAD").status !== 0) {
  process.stdout.write(`commit subjects not checked: ${BASE} is not in this history, or there is none\n`);
} else {
  const commits = listed.stdout.split("\n").filter((line) => line !== "");
  const wrong = commits.flatMap((line) => {
    const subject = line.slice(line.indexOf(" ") + 1);
    const problem = problemIn(subject);
    return problem === undefined ? [] : [`${line}: ${problem}\n`];
  });
  process.stdout.write(`${wrong.join("")}${commits.length} commit subjects checked, ${wrong.length} wrong\n`);
  if (wrong.length > 0) process.exitCode = 1;
}

/** What is wrong with the first line of a commit message; undefined for a valid one. */
function problemIn(line: string): string | undefined {
  const { type = "", scope, subject = "" } = FORM.exec(line)?.groups ?? {};
  if (type === "") return "is not of the form type(scope): subject";
  if (!TYPES.includes(type)) return `has the unknown type ${type}; known are ${TYPES.join(", ")}`;
  if (scope === undefined) return "has no scope";
  if (line.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  if (subject.trim() !== subject) return "has spaces around its subject";
  if (/^[A-Z][a-z]/.test(subject)) return "begins its subject with a capital letter";
  if (subject.endsWith(".")) return "ends with a full stop";
  return undefined;
}
