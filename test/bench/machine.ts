import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const GIBIBYTE = 1024 ** 3;
/** A commit of Postgres writes at least one page of its log. */
const PAGE = Buffer.alloc(8_192, 1);
const FSYNC_MS = 1_000;
const MAX_STEAL_PERCENT = 4;
const STEAL_SAMPLE_MS = 1_000;
const MAX_DISTURBED_MS = 60_000;

export function describeMachine(): string {
  const cores = cpus();
  const memory = Math.round(totalmem() / GIBIBYTE);
  const model = (cores[0]?.model ?? "unknown").replaceAll("|", " ").trim();
  return `${cores.length} x ${model}, ${memory} GiB, Node ${process.versions.node}`;
}

/** Pages of 8 KiB that one writer makes durable in a second, one after the other: what pg_test_fsync calls fdatasync. */
export function flushesPerSecond(folder: string, ms = FSYNC_MS): number {
  const file = join(folder, "flush-test");
  const descriptor = openSync(file, "w");
  try {
    const startedMs = performance.now();
    let count = 0;
    for (; performance.now() - startedMs < ms; count += 1) {
      writeSync(descriptor, PAGE, 0, PAGE.length, 0);
      fdatasyncSync(descriptor);
    }
    return (count * 1_000) / (performance.now() - startedMs);
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
}

/** Ticks of all processors since the machine started. */
export type MachineTicks = { readonly stolen: number; readonly idle: number; readonly total: number };

export function machineTicks(): MachineTicks {
  const [, ...ticks] = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "").trim().split(/\s+/).map(Number);
  // user, nice, system, idle, iowait, irq, softirq, steal; guest times are part of user time.
  const counted = ticks.slice(0, 8);
  return { stolen: counted[7] ?? 0, idle: (counted[3] ?? 0) + (counted[4] ?? 0), total: sum(counted) };
}

/** Share of the processors that the hypervisor gave to other machines since `before`, in per cent. */
export function stealPercent(before: MachineTicks): number {
  const now = machineTicks();
  return (100 * (now.stolen - before.stolen)) / Math.max(1, now.total - before.total);
}

/** Waits until other machines take little of the processors, at most a minute: the figures show how much it was. */
export async function untilUndisturbed(): Promise<void> {
  for (const untilMs = performance.now() + MAX_DISTURBED_MS; performance.now() < untilMs;) {
    const before = machineTicks();
    await sleep(STEAL_SAMPLE_MS);
    if (stealPercent(before) < MAX_STEAL_PERCENT) return;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
