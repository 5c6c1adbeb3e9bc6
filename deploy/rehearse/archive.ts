import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { chooseUser, giveAccess } from "../local/postgres-user.ts";
import { startPostgres } from "../local/postgres.ts";
import { DemoFailure } from "../demo/wait.ts";
import { withClient } from "../provision/database.ts";

/** A base backup and the write-ahead log since: what a database is restored from. */
export type Archive = { readonly wal: string; readonly base: string; readonly label: string };

export type ArchivedDatabase = {
  readonly archive: Archive;
  readonly dataDir: string;
  readonly logFile: string;
  readonly password: string;
};

/** In production a minute: what was not archived yet is lost with the disk. */
const ARCHIVE_TIMEOUT = "2s";
const RECOVERY_POLL_MS = 50;
/** GNU tar ends with 1 when a file changed while it was read; replaying the log repairs such a file. */
const TAR_CHANGED = 1;
/** Files of the running server, and the log, which comes from the archive. */
const NOT_COPIED = ["./pg_wal/*", "./postmaster.pid", "./postmaster.opts"];

export function makeArchive(folder: string): Archive {
  const archive = { wal: join(folder, "wal"), base: join(folder, "base.tar"), label: join(folder, "backup_label") };
  mkdirSync(archive.wal, { recursive: true });
  giveAccess(chooseUser(), [archive.wal]);
  return archive;
}

/** In force from the next start of the server on. A file has its name when it is complete. */
export async function turnOnArchiving({ archive: { wal }, ...database }: ArchivedDatabase): Promise<void> {
  const command = `cp "%p" "${wal}/%f.part" && mv "${wal}/%f.part" "${wal}/%f"`;
  await using server = await startPostgres({ ...database, isDurable: true });
  await withClient(server.url, async (client) => {
    await client.query("alter system set archive_mode = on");
    await client.query(`alter system set archive_command = ${pg.escapeLiteral(command)}`);
    await client.query(`alter system set archive_timeout = '${ARCHIVE_TIMEOUT}'`);
  });
}

/** As pg_basebackup does, which is not among the programs that npm installs: copies the files between the two calls. */
export async function takeBaseBackup(url: string, dataDir: string, { base, label }: Archive): Promise<void> {
  await withClient(url, async (database) => {
    // The backup belongs to this session.
    await database.query("select pg_backup_start('rehearsal', true)");
    const excluded = NOT_COPIED.map((name) => `--exclude=${name}`);
    tar(["-C", dataDir, ...excluded, "-cf", base, "."], TAR_CHANGED);
    const { rows } = await database.query<{ labelfile: string }>("select labelfile from pg_backup_stop(true)");
    writeFileSync(label, rows[0]?.labelfile ?? "");
  });
}

/** The name of an instant in the log, and its archived file. */
export async function nameRestorePoint(url: string, name: string, { wal }: Archive): Promise<void> {
  await withClient(url, async (database) => {
    const { rows } = await database.query<{ file: string }>(
      "select pg_walfile_name(pg_create_restore_point($1)) as file",
      [name],
    );
    const file = join(wal, rows[0]?.file ?? "");
    for (const until = Date.now() + 60_000; !existsSync(file); await sleep(RECOVERY_POLL_MS)) {
      if (Date.now() > until) throw new DemoFailure(`${file} was not archived`);
    }
  });
}

/** Replays the log up to the restore point and promotes the server, which is stopped then: the services start with their own launcher. */
export async function recover(
  recovery: ArchivedDatabase & { readonly restorePoint: string },
): Promise<{ readonly timeline: number }> {
  const { archive, restorePoint, ...database } = recovery;
  const { wal, base, label } = archive;
  const { dataDir, logFile } = database;
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { mode: 0o700 });
  tar(["-C", dataDir, "-xpf", base], 0);
  writeFileSync(join(dataDir, "backup_label"), readFileSync(label));
  writeFileSync(join(dataDir, "recovery.signal"), "");
  const settings = [
    `restore_command = 'cp "${wal}/%f" "%p"'`,
    `recovery_target_name = '${restorePoint}'`,
    "recovery_target_action = 'promote'",
  ];
  appendFileSync(join(dataDir, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
  const { uid, gid } = statSync(dataDir);
  for (const name of ["backup_label", "recovery.signal"]) {
    chownSync(join(dataDir, name), uid, gid);
    chmodSync(join(dataDir, name), 0o600);
  }
  await using server = await startPostgres({ ...database, isDurable: true });
  return await withClient(server.url, async (promoted) => {
    for (const until = Date.now() + 120_000; ; await sleep(RECOVERY_POLL_MS)) {
      const { rows } = await promoted.query<{ is_recovering: boolean }>("select pg_is_in_recovery() as is_recovering");
      if (rows[0]?.is_recovering === false) break;
      if (Date.now() > until) throw new DemoFailure(`the database does not end its recovery: see ${logFile}`);
    }
    for (const name of ["restore_command", "recovery_target_name", "recovery_target_action"]) {
      await promoted.query(`alter system reset ${name}`);
    }
    const { rows } = await promoted.query<{ timeline: number }>(
      "select timeline_id as timeline from pg_control_checkpoint()",
    );
    return { timeline: rows[0]?.timeline ?? 0 };
  });
}

function tar(args: readonly string[], accepted: number): void {
  const { status, stderr, error } = spawnSync("tar", args, { encoding: "utf8", cwd: "/" });
  if (status === null || status > accepted) throw new DemoFailure(`tar failed: ${error?.message ?? stderr.trim()}`);
}
