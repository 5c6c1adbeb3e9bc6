import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, statSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { StartupError } from "#kernel/process/startup-error.ts";
import type { RunAs } from "./child-process.ts";

const UNPRIVILEGED_ID = 65_534;
const PASSABLE_FOLDER = 0o711;
const OTHERS_MAY_ENTER = 0o001;

/**
 * Postgres refuses to run as root. In a user namespace root is another user, without a second account on this machine and
 * without a change of owners; containers forbid namespaces: there the files are given to an unprivileged user.
 */
export function chooseUser(): RunAs {
  if (process.getuid?.() !== 0) return { prefix: [], ids: {} };
  const namespace = ["--user", "--map-user=1000", "--map-group=1000"];
  const isAllowed = spawnSync("unshare", [...namespace, "true"]).status === 0;
  if (isAllowed) return { prefix: ["unshare", ...namespace], ids: {} };
  return { prefix: [], ids: { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } };
}

/** Gives the paths to the user that Postgres will run as, and makes their folders passable. */
export function giveAccess({ ids }: RunAs, paths: readonly string[]): void {
  const { uid, gid } = ids;
  if (uid === undefined || gid === undefined) return;
  for (const path of paths) {
    chownSync(path, uid, gid);
    chmodSync(dirname(path), PASSABLE_FOLDER);
  }
  const closed = paths.flatMap(foldersAbove).find((folder) => (statSync(folder).mode & OTHERS_MAY_ENTER) === 0);
  if (closed === undefined) return;
  throw new StartupError(
    `Postgres refuses to run as root, and another user cannot enter ${closed}: run as another user, or choose a folder elsewhere`,
  );
}

function foldersAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...foldersAbove(parent)];
}
