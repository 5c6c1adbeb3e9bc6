import { spawnSync } from "node:child_process";

/** Subjects before this commit have no type; they are not checked. */
export const BASE = "4b981a8";

export const TYPES = ["build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test"];
export const MAX_LENGTH = 120;

const FORM = /^(?<type>[a-z]+)(?:\((?<scope>[a-z0-9-]+(?:, ?[a-z0-9-]+)*)\))?!?: (?<subject>.+)$/;

/** What is wrong with the first line of a commit message; undefined for a valid one. */
export function problemIn(line: string): string | undefined {
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

export type History =
  | { readonly kind: "commits"; readonly commits: readonly { readonly id: string; readonly subject: string }[] }
  | { readonly kind: "unavailable"; readonly why: string };

/** The commits after `base` in the history of a folder, without merges. */
export function historyOf(folder: string, base: string): History {
  const git = (...args: string[]) => spawnSync("git", ["-C", folder, ...args], { encoding: "utf8" });
  const inside = git("rev-parse", "--is-shallow-repository");
  if (inside.error !== undefined) return { kind: "unavailable", why: "git is not installed" };
  if (inside.status !== 0) return { kind: "unavailable", why: "this is not a git repository" };
  if (git("merge-base", "--is-ancestor", base, "HEAD").status !== 0) {
    const isShallow = inside.stdout.trim() === "true";
    return { kind: "unavailable", why: isShallow ? "the clone is shallow" : `${base} is not in this history` };
  }
  const { status, stdout, stderr } = git("log", "--no-merges", "--format=%h %s", `${base}..HEAD`);
  if (status !== 0) return { kind: "unavailable", why: stderr.trim() };
  const lines = stdout.split("\n").filter((line) => line !== "");
  const commits = lines.map((line) => {
    const [id = "", ...words] = line.split(" ");
    return { id, subject: words.join(" ") };
  });
  return { kind: "commits", commits };
}
