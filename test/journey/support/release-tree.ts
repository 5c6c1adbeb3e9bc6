import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Release, ROOT } from "../../support/releases.ts";

const run = promisify(execFile);

/** The source of a release in a folder of its own, with its contracts generated. It uses the packages that are installed here. */
export async function unpackRelease({ commit }: Release, folder: string): Promise<string> {
  const root = join(folder, "release");
  mkdirSync(root);
  await run("sh", ["-c", `git archive "$1" | tar -x -C "$2"`, "sh", commit, root], { cwd: ROOT });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  await run("npm", ["run", "--silent", "codegen"], { cwd: root });
  return root;
}
