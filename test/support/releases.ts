import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export type Release = { readonly version: string; readonly commit: string };

export const ROOT = join(import.meta.dirname, "../..");

/** Oldest first; none as long as nothing has been released. */
export function readReleases(): Release[] {
  return parse(readFileSync(join(ROOT, "deploy/releases.yaml"), "utf8")) as Release[];
}

/** What is wrong with the list, for a history and the version of package.json. */
export function releaseMistakes(
  releases: readonly Release[],
  version: string,
  isInHistory: (commit: string) => boolean,
): string[] {
  const mistakes: string[] = [];
  for (const [index, { version: own, commit }] of releases.entries()) {
    const before = releases[index - 1];
    if (!/^\d+\.\d+\.\d+$/.test(own)) mistakes.push(`${own}: a version is three numbers`);
    if (!/^[0-9a-f]{40}$/.test(commit)) mistakes.push(`${own}: ${commit} is not the whole id of a commit`);
    else if (!isInHistory(commit)) mistakes.push(`${own}: ${commit} is not in the history of this source`);
    if (before !== undefined && compareVersions(before.version, own) >= 0) {
      mistakes.push(`${own}: it is listed after ${before.version}`);
    }
  }
  const newest = releases.at(-1);
  if (newest !== undefined && compareVersions(newest.version, version) > 0) {
    mistakes.push(`${newest.version}: it is newer than package.json, which has ${version}`);
  }
  return mistakes;
}

/** Whether the commit exists and what is checked out was made from it. */
export function isInHistory(commit: string): boolean {
  try {
    execFileSync("git", ["merge-base", "--is-ancestor", commit, "HEAD"], { cwd: ROOT, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A file as the release has it; undefined when it has none. */
export function fileIn({ commit }: Release, path: string): string | undefined {
  try {
    return execFileSync("git", ["show", `${commit}:${path}`], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "ignore"],
    }).toString();
  } catch {
    return undefined;
  }
}

/** The paths of all files of the release. */
export function filesIn({ commit }: Release): string[] {
  return execFileSync("git", ["ls-tree", "-r", "--name-only", commit], { cwd: ROOT }).toString().trim().split("\n");
}

function compareVersions(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}
