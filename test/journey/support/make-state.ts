import process from "node:process";
import { prepare, ROOT } from "../../../deploy/local/launch.ts";
import { createSupervisor } from "../../../deploy/local/supervisor.ts";

// The state of a system before its first start. In a process of its own, because the set-ups of a run share one registry of metrics.
await using stack = new AsyncDisposableStack();
await prepare(ROOT, process.env, createSupervisor(), stack);
