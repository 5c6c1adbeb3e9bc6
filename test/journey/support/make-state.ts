import process from "node:process";
import { makeState } from "../../../deploy/local/launch.ts";

// A process of its own, because the set-ups of a run share one registry of metrics.
await makeState(process.env);
